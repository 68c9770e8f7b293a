#pragma once
// Everything a program needs of Agora.
#include <agora/auctions.h>
#include <agora/error.h>
#include <agora/planning.h>
#include <agora/version.h>

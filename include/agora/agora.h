#pragma once
// Everything a program needs of Agora.
#include <agora/error.h>
#include <agora/version.h>

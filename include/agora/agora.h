#pragma once
// Everything a program needs of Agora.
#include <agora/agents.h>
#include <agora/auction_audit.h>
#include <agora/auction_training.h>
#include <agora/auctions.h>
#include <agora/error.h>
#include <agora/planning.h>
#include <agora/threads.h>
#include <agora/version.h>

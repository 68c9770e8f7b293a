#pragma once
#include <agora/planning/builder.h>
#include <agora/planning/load.h>
#include <agora/planning/model.h>
#include <agora/planning/solve.h>

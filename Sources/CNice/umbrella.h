#pragma once
#include <nice/agent.h>
#include <nice/interfaces.h>

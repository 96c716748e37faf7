#pragma once
#include "shims_gst.h"
#include "shims_process.h"
#include "shims_transport.h"

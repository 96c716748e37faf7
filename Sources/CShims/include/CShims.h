#pragma once
#include "frame_colors.h"
#include "frame_corners.h"
#include "frame_memory.h"
#include "shims_gst.h"
#include "shims_process.h"
#include "shims_transport.h"

#pragma once
#include <sys/socket.h>
#include <usrsctp.h>

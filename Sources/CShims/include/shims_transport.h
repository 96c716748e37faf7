#pragma once
// Macros and variadic functions of OpenSSL, libnice and usrsctp that Swift cannot import.
#include <openssl/ssl.h>

#pragma once
// Macros and variadic functions of OpenSSL, GLib and usrsctp that Swift cannot import.
#include <openssl/ssl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <sys/time.h>
#include <glib-object.h>

/// A fresh P-256 key pair, or NULL.
EVP_PKEY *shim_generate_p256(void);

/// Fixes the datagram size that DTLS may fill and keeps OpenSSL from asking the socket for it.
void shim_ssl_set_mtu(SSL *ssl, long mtu);

/// Time until the handshake timer fires; 0 when none runs.
int shim_dtls_get_timeout(SSL *ssl, struct timeval *timeout);

/// Retransmits what the handshake timer asks for; below 0 when the handshake has to be given up.
int shim_dtls_handle_timeout(SSL *ssl);

void shim_object_set_bool(gpointer object, const char *name, gboolean value);
void shim_object_set_uint(gpointer object, const char *name, guint value);
void shim_object_set_string(gpointer object, const char *name, const char *value);

/// Ends every signal connection that was made with `data`.
void shim_disconnect_by_data(gpointer object, gpointer data);

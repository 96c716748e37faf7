#include "shims_transport.h"

EVP_PKEY *shim_generate_p256(void) { return EVP_EC_gen("P-256"); }

void shim_ssl_set_mtu(SSL *ssl, long mtu) {
  SSL_set_options(ssl, SSL_OP_NO_QUERY_MTU);
  SSL_set_mtu(ssl, mtu);
}

int shim_dtls_get_timeout(SSL *ssl, struct timeval *timeout) { return (int)DTLSv1_get_timeout(ssl, timeout); }

int shim_dtls_handle_timeout(SSL *ssl) { return (int)DTLSv1_handle_timeout(ssl); }

void shim_object_set_bool(gpointer object, const char *name, gboolean value) {
  g_object_set(object, name, value, NULL);
}

void shim_object_set_uint(gpointer object, const char *name, guint value) { g_object_set(object, name, value, NULL); }

void shim_object_set_string(gpointer object, const char *name, const char *value) {
  g_object_set(object, name, value, NULL);
}

void shim_disconnect_by_data(gpointer object, gpointer data) {
  g_signal_handlers_disconnect_by_data(object, data);
}

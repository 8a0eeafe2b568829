// OpenSSL's objects, owned.
#ifndef NET_TLS_OPENSSL_H_
#define NET_TLS_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>

namespace bspnow {

template <auto kFree>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using BioPtr = std::unique_ptr<BIO, FreedBy<&BIO_free>>;
using CertificatePtr = std::unique_ptr<X509, FreedBy<&X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreedBy<&X509_EXTENSION_free>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, FreedBy<&GENERAL_NAMES_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreedBy<&EVP_PKEY_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, FreedBy<&SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, FreedBy<&SSL_free>>;
using StorePtr = std::unique_ptr<X509_STORE, FreedBy<&X509_STORE_free>>;
using VerificationPtr = std::unique_ptr<X509_STORE_CTX, FreedBy<&X509_STORE_CTX_free>>;

}  // namespace bspnow

#endif  // NET_TLS_OPENSSL_H_

// For tests: a system without threads. Takes the place of libc's call in the whole program, so one
// file of a test includes it.
#ifndef BASE_NO_THREADS_FOR_TEST_H_
#define BASE_NO_THREADS_FOR_TEST_H_

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <atomic>

namespace bspnow {

inline std::atomic<bool>& ThreadsAreRefused() {
  static std::atomic<bool> refused = false;
  return refused;
}

/// No thread can be started in this process while it lives.
class NoThreads {
 public:
  NoThreads() { ThreadsAreRefused() = true; }
  ~NoThreads() { ThreadsAreRefused() = false; }

  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
};

}  // namespace bspnow

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  if (bspnow::ThreadsAreRefused()) return EAGAIN;
  static const auto create =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, run, argument);
}

#endif  // BASE_NO_THREADS_FOR_TEST_H_

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guarded access. A thread that is about to touch memory of the program leaves a jump buffer and
 * the range in a seat with its name; the handler of SIGSEGV and SIGBUS jumps there when the
 * fault lies in that range, and hands every other fault to the handler that was there before (or to
 * the default action, so that the program's own crashes look as they always did).
 *
 *   no guard ── enter ──> guarded ── leave ──> no guard
 *                            └── fault in range ── jump ──> no guard, -EFAULT
 *   a fault that is not ours: previous handler; without one, default action restored and the
 * instruction runs again
 *
 * A program's handler that was installed after ours and hands on to ours must not get the fault
 * back for ever: such a call comes with the context that we handed out, from deeper in the stack,
 * and then goes to whoever was there before ours.
 */
#include "memory/guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/crc32.h"
#include "base/reason.h"

/* ThreadSanitizer runs handlers with every signal blocked, so there the way back must restore the
 * mask (two system calls). */
#if defined(__SANITIZE_THREAD__)
#define SAVE_MASK 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SAVE_MASK 1
#endif
#endif
#ifndef SAVE_MASK
#define SAVE_MASK 0
#endif

#define PAGE_MIN    4096u
#define SEATS	    64u /* threads inside a guard at once; more wait */
#define PROBE_TRIES 16	  /* others may store at the same time; whoever stores faults */
#define COPY_CHUNK  4096u /* copied, then summed while in the first-level cache */

struct guard {
	sigjmp_buf back;
	uintptr_t first[2], last[2];
	unsigned seat;
};

/* Who is inside a guard now. No thread-local variables: the handler may be the first of its thread
 * to look at one, and what is allocated then would be allocated in a crashed program. */
static struct {
	_Atomic uintptr_t owner; /* thread; 0: free */
	struct guard *volatile guard;
} seats[SEATS];

/* The fault that was handed on last. */
static volatile struct {
	uintptr_t thread, frame;
	const void *context;
} handed;

static const int signals[2] = {SIGSEGV, SIGBUS};
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
/* [1] whom ours stands in front of, [0] the same the time before. Written under the lock, complete
 * before ours is in place. */
static struct sigaction before[2][2];
static atomic_bool was_installed;

static bool is_in_range(const struct guard *g, uintptr_t at)
{
	for (int i = 0; i < 2; i++)
		if (at >= g->first[i] && at <= g->last[i])
			return true;
	return false;
}

static void default_action(int sig, const siginfo_t *info)
{
	struct sigaction dfl;

	memset(&dfl, 0, sizeof(dfl));
	dfl.sa_handler = SIG_DFL;
	sigaction(sig, &dfl, NULL);
	if (info->si_code <= 0)
		raise(sig);
}

static void hand_on(const struct sigaction *to, int sig, siginfo_t *info, void *context)
{
	sigset_t mask = to->sa_mask;

	if (!(to->sa_flags & SA_SIGINFO) &&
	    (to->sa_handler == SIG_DFL || (to->sa_handler == SIG_IGN && info->si_code > 0))) {
		default_action(sig, info);
		return;
	}
	if (!(to->sa_flags & SA_SIGINFO) && to->sa_handler == SIG_IGN)
		return;
	if (!(to->sa_flags & SA_NODEFER))
		sigaddset(&mask, sig);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(sig, info, context);
	else
		to->sa_handler(sig);
}

static uintptr_t this_thread(void) { return (uintptr_t)pthread_self(); }

static struct guard *guard_of(uintptr_t thread)
{
	for (unsigned i = 0; i < SEATS; i++)
		if (atomic_load_explicit(&seats[i].owner, memory_order_relaxed) == thread)
			return seats[i].guard;
	return NULL;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	uintptr_t self = this_thread();
	struct guard *g = guard_of(self);
	int which = sig == signals[1];
	uintptr_t frame = (uintptr_t)&which;
	bool came_back = handed.thread == self && handed.context == context && frame < handed.frame;

	if (g && info->si_code > 0 && is_in_range(g, (uintptr_t)info->si_addr)) {
		atomic_store(&seats[g->seat].owner, 0);
		siglongjmp(g->back, 1);
	}
	handed.thread = self;
	handed.context = context;
	handed.frame = frame;
	hand_on(&before[which][came_back ? 0 : 1], sig, info, context);
	handed.context = NULL;
}

static bool is_ours(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == on_fault;
}

static int install_one(int which)
{
	struct sigaction ours, there;

	if (sigaction(signals[which], NULL, &there))
		return -errno;
	if (is_ours(&there))
		return 0;
	before[which][0] = atomic_load(&was_installed) ? before[which][1] : there;
	before[which][1] = there;
	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = on_fault;
	ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	sigemptyset(&ours.sa_mask);
	return sigaction(signals[which], &ours, NULL) ? -errno : 0;
}

int vf_guard_install(void)
{
	int err = 0;

	pthread_mutex_lock(&install_lock);
	for (int i = 0; i < 2 && !err; i++)
		err = install_one(i);
	if (!err)
		atomic_store(&was_installed, true);
	pthread_mutex_unlock(&install_lock);
	return err ? vf_refuse(-err, "handler for memory faults: the system refused (%d)", -err)
		   : 0;
}

void vf_guard_remove(void)
{
	struct sigaction there;

	pthread_mutex_lock(&install_lock);
	for (int i = 0; i < 2 && atomic_load(&was_installed); i++)
		if (!sigaction(signals[i], NULL, &there) && is_ours(&there))
			sigaction(signals[i], &before[i][1], NULL);
	pthread_mutex_unlock(&install_lock);
}

/* Wide loads may touch the rest of a page, so ranges count in whole ones. */
static void set_range(struct guard *g, int i, const void *p, size_t len)
{
	uintptr_t at = (uintptr_t)p;

	g->first[i] = at & ~(uintptr_t)(PAGE_MIN - 1);
	g->last[i] = (at + (len ? len - 1 : 0)) | (PAGE_MIN - 1);
}

static void enter(struct guard *g)
{
	uintptr_t self = this_thread(), none = 0;
	unsigned i = (unsigned)(self >> 12) % SEATS;

	while (!atomic_compare_exchange_weak_explicit(&seats[i].owner, &none, self,
						      memory_order_acquire, memory_order_relaxed)) {
		i = (i + 1) % SEATS;
		none = 0;
	}
	g->seat = i;
	seats[i].guard = g;
	atomic_signal_fence(memory_order_seq_cst);
}

static void leave(const struct guard *g)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&seats[g->seat].owner, 0, memory_order_release);
}

int vf_guard_crc32(uint32_t *crc, const void *p, size_t len)
{
	struct guard g;
	uint32_t sum;

	set_range(&g, 0, p, len);
	set_range(&g, 1, p, len);
	if (sigsetjmp(g.back, SAVE_MASK))
		return -EFAULT;
	enter(&g);
	sum = vf_crc32(*crc, p, len);
	leave(&g);
	*crc = sum;
	return 0;
}

int vf_guard_copy(void *dst, const void *src, size_t len)
{
	struct guard g;

	set_range(&g, 0, dst, len);
	set_range(&g, 1, src, len);
	if (sigsetjmp(g.back, SAVE_MASK))
		return -EFAULT;
	enter(&g);
	memcpy(dst, src, len);
	leave(&g);
	return 0;
}

static uint32_t copy_and_sum(uint32_t crc, uint8_t *dst, const uint8_t *src, size_t len)
{
	for (size_t at = 0; at < len; at += COPY_CHUNK) {
		size_t n = len - at < COPY_CHUNK ? len - at : COPY_CHUNK;

		memcpy(dst + at, src + at, n);
		crc = vf_crc32(crc, dst + at, n);
	}
	return crc;
}

int vf_guard_copy_crc32(uint32_t *crc, void *dst, const void *src, size_t len)
{
	struct guard g;
	uint32_t sum;

	set_range(&g, 0, dst, len);
	set_range(&g, 1, src, len);
	if (sigsetjmp(g.back, SAVE_MASK))
		return -EFAULT;
	enter(&g);
	sum = copy_and_sum(*crc, dst, src, len);
	leave(&g);
	*crc = sum;
	return 0;
}

/* ThreadSanitizer makes atomics calls that hold a lock of its own while they fault: a plain access
 * in front takes the fault. Nothing in other builds. */
static void touch(volatile uint8_t *p, bool is_write)
{
	if (SAVE_MASK) {
		uint8_t seen = *p;

		if (is_write)
			*p = seen;
	}
}

int vf_guard_atomic64(void *p, bool is_swap, uint64_t compare_add, uint64_t swap,
		      uint64_t *original)
{
	_Atomic uint64_t *at = p;
	struct guard g;
	uint64_t old = compare_add;

	if ((uintptr_t)p % sizeof(uint64_t))
		return -EINVAL;
	set_range(&g, 0, p, sizeof(uint64_t));
	set_range(&g, 1, p, sizeof(uint64_t));
	if (sigsetjmp(g.back, SAVE_MASK))
		return -EFAULT;
	enter(&g);
	touch(p, true);
	if (is_swap)
		atomic_compare_exchange_strong(at, &old, swap);
	else
		old = atomic_fetch_add(at, compare_add);
	leave(&g);
	*original = old;
	return 0;
}

/*
 * A byte is written by exchanging it for itself, so that a value stored by somebody else meanwhile
 * is not lost. (Adding nothing would do, but compilers make a plain load of that.)
 */
int vf_guard_probe(void *p, bool is_write)
{
	volatile _Atomic uint8_t *at = p; /* a compiler may leave out what only faults */
	struct guard g;
	uint8_t seen;

	set_range(&g, 0, p, 1);
	set_range(&g, 1, p, 1);
	if (sigsetjmp(g.back, SAVE_MASK))
		return -EFAULT;
	enter(&g);
	touch(p, is_write);
	seen = atomic_load(at);
	for (int i = 0; is_write && i < PROBE_TRIES; i++)
		if (atomic_compare_exchange_strong(at, &seen, seen))
			break;
	leave(&g);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_OS_LINUX_NETLINK_H
#define VF_OS_LINUX_NETLINK_H
/* One rtnetlink request and its answers; private to this folder. */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>

/** Called for each answer; a negative result ends the walk and is handed on. */
typedef int (*vf_netlink_fn)(const struct nlmsghdr *msg, void *arg);

/**
 * Sends @req (its nlmsg_len, type and flags set; NLM_F_REQUEST and the sequence number are added)
 * and walks the answers until the dump or the single answer is complete. Returns 0, what @fn
 * returned, or the kernel's error.
 */
int vf_netlink_ask(struct nlmsghdr *req, vf_netlink_fn fn, void *arg);

/** Appends an attribute to a request in a buffer of @room bytes; the caller has made it large
 * enough. */
void vf_netlink_put(struct nlmsghdr *req, size_t room, unsigned short type, const void *data,
		    size_t len);

/** The next attribute's header is at most @len bytes away: walks as the kernel's macros do, without
 * their sign warnings. */
const struct rtattr *vf_netlink_attr(const struct rtattr *first, size_t len, unsigned short type);

/** What an attribute holds, and what follows the header of an answer: the kernel's macros, keeping const. */
static inline const void *vf_netlink_data(const struct rtattr *a)
{
	return (const char *)a + RTA_LENGTH(0);
}

static inline const void *vf_netlink_body(const struct nlmsghdr *h)
{
	return (const char *)h + NLMSG_LENGTH(0);
}

#endif

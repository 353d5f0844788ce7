/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets over RDMA. They need the connection manager: making one is refused for that reason, and
 * every call on a descriptor answers that the descriptor is none of ours, which is true for as long
 * as none can be made.
 */
#include <rdma/rsocket.h>

#include "base/export.h"
#include "cm/absent.h"

VF_EXPORT int rsocket(int domain, int type, int protocol)
{
	(void)domain;
	(void)type;
	(void)protocol;
	return vf_cm_absent("rsocket");
}

VF_EXPORT int rbind(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	(void)addr;
	(void)addrlen;
	return vf_cm_no_rsocket("rbind", socket);
}

VF_EXPORT int rlisten(int socket, int backlog)
{
	(void)backlog;
	return vf_cm_no_rsocket("rlisten", socket);
}

VF_EXPORT int raccept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	(void)addr;
	(void)addrlen;
	return vf_cm_no_rsocket("raccept", socket);
}

VF_EXPORT int rconnect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	(void)addr;
	(void)addrlen;
	return vf_cm_no_rsocket("rconnect", socket);
}

VF_EXPORT int rshutdown(int socket, int how)
{
	(void)how;
	return vf_cm_no_rsocket("rshutdown", socket);
}

VF_EXPORT int rclose(int socket) { return vf_cm_no_rsocket("rclose", socket); }

VF_EXPORT int rgetpeername(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	(void)addr;
	(void)addrlen;
	return vf_cm_no_rsocket("rgetpeername", socket);
}

VF_EXPORT int rgetsockname(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	(void)addr;
	(void)addrlen;
	return vf_cm_no_rsocket("rgetsockname", socket);
}

VF_EXPORT int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen)
{
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return vf_cm_no_rsocket("rsetsockopt", socket);
}

VF_EXPORT int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen)
{
	(void)level;
	(void)optname;
	(void)optval;
	(void)optlen;
	return vf_cm_no_rsocket("rgetsockopt", socket);
}

VF_EXPORT int rfcntl(int socket, int cmd, ...)
{
	(void)cmd;
	return vf_cm_no_rsocket("rfcntl", socket);
}

/* ---- data ---- */

VF_EXPORT ssize_t rrecv(int socket, void *buf, size_t len, int flags)
{
	(void)buf;
	(void)len;
	(void)flags;
	return vf_cm_no_rsocket("rrecv", socket);
}

VF_EXPORT ssize_t rrecvfrom(int socket, void *buf, size_t len, int flags, struct sockaddr *src_addr,
			    socklen_t *addrlen)
{
	(void)buf;
	(void)len;
	(void)flags;
	(void)src_addr;
	(void)addrlen;
	return vf_cm_no_rsocket("rrecvfrom", socket);
}

VF_EXPORT ssize_t rrecvmsg(int socket, struct msghdr *msg, int flags)
{
	(void)msg;
	(void)flags;
	return vf_cm_no_rsocket("rrecvmsg", socket);
}

VF_EXPORT ssize_t rsend(int socket, const void *buf, size_t len, int flags)
{
	(void)buf;
	(void)len;
	(void)flags;
	return vf_cm_no_rsocket("rsend", socket);
}

VF_EXPORT ssize_t rsendto(int socket, const void *buf, size_t len, int flags,
			  const struct sockaddr *dest_addr, socklen_t addrlen)
{
	(void)buf;
	(void)len;
	(void)flags;
	(void)dest_addr;
	(void)addrlen;
	return vf_cm_no_rsocket("rsendto", socket);
}

VF_EXPORT ssize_t rsendmsg(int socket, const struct msghdr *msg, int flags)
{
	(void)msg;
	(void)flags;
	return vf_cm_no_rsocket("rsendmsg", socket);
}

VF_EXPORT ssize_t rread(int socket, void *buf, size_t count)
{
	(void)buf;
	(void)count;
	return vf_cm_no_rsocket("rread", socket);
}

VF_EXPORT ssize_t rreadv(int socket, const struct iovec *iov, int iovcnt)
{
	(void)iov;
	(void)iovcnt;
	return vf_cm_no_rsocket("rreadv", socket);
}

VF_EXPORT ssize_t rwrite(int socket, const void *buf, size_t count)
{
	(void)buf;
	(void)count;
	return vf_cm_no_rsocket("rwrite", socket);
}

VF_EXPORT ssize_t rwritev(int socket, const struct iovec *iov, int iovcnt)
{
	(void)iov;
	(void)iovcnt;
	return vf_cm_no_rsocket("rwritev", socket);
}

VF_EXPORT off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset)
{
	(void)buf;
	(void)len;
	(void)prot;
	(void)flags;
	(void)offset;
	return vf_cm_no_rsocket("riomap", socket);
}

VF_EXPORT int riounmap(int socket, void *buf, size_t len)
{
	(void)buf;
	(void)len;
	return vf_cm_no_rsocket("riounmap", socket);
}

VF_EXPORT size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags)
{
	(void)buf;
	(void)count;
	(void)offset;
	(void)flags;
	return (size_t)vf_cm_no_rsocket("riowrite", socket);
}

/* ---- waiting ---- */

VF_EXPORT int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	(void)fds;
	(void)nfds;
	(void)timeout;
	return vf_cm_absent("rpoll");
}

VF_EXPORT int rselect(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
		      struct timeval *timeout)
{
	(void)nfds;
	(void)readfds;
	(void)writefds;
	(void)exceptfds;
	(void)timeout;
	return vf_cm_absent("rselect");
}

VF_EXPORT int repoll_create(int flags)
{
	(void)flags;
	return vf_cm_absent("repoll_create");
}

VF_EXPORT int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	(void)epfd;
	(void)op;
	(void)fd;
	(void)event;
	return vf_cm_absent("repoll_ctl");
}

VF_EXPORT int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	(void)epfd;
	(void)events;
	(void)maxevents;
	(void)timeout;
	return vf_cm_absent("repoll_wait");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open devices.
 *
 *	        open, import                close, nothing lives in it
 *	(none) ─────────────▶ open ───────────────────────────────────▶ (none)
 *	                       │ close, objects live in it                ▲
 *	                       └──────────▶ closed ───────────────────────┘
 *	                                            the last object is destroyed
 *
 * A program that closes a device before its objects would otherwise destroy them in memory that is
 *gone; so the context goes with the last of them. Prohibited: closing twice; opening a device that
 *is in no list.
 *
 * cmd_fd is a real descriptor that can be duplicated: a socket with one message in it, which says
 *whose context it is, and which ibv_import_device reads without taking it out. Contexts that came
 *from one another are a family: they see one another's objects by handle. All members of a family
 *are in one process.
 */
#include "verbs/api.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vf_list open_contexts = {&open_contexts, &open_contexts};
static atomic_uint_fast64_t families;

/* What lies in a cmd_fd. */
struct label {
	char magic[16];
	uint64_t pid;
	uint64_t family;
};

static const char magic[16] = "verbifrost cmd1";

/* ---- cmd_fd ---- */

static int label_open(uint64_t family, int *out)
{
	struct label l = {.pid = (uint64_t)getpid(), .family = family};
	int fd[2];

	memcpy(l.magic, magic, sizeof(magic));
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
		return vf_refuse(errno, "ibv_open_device: no descriptors for cmd_fd");
	if (fcntl(fd[0], F_SETFD, FD_CLOEXEC) || send(fd[1], &l, sizeof(l), 0) != sizeof(l)) {
		int err = vf_refuse(errno, "ibv_open_device: cmd_fd cannot be labelled");

		close(fd[0]);
		close(fd[1]);
		return err;
	}
	close(fd[1]);
	*out = fd[0];
	return 0;
}

static int label_read(int fd, struct label *l)
{
	ssize_t n = recv(fd, l, sizeof(*l), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && errno == EBADF)
		return vf_refuse(EBADF, "ibv_import_device: cmd_fd %d is not open", fd);
	if (n != sizeof(*l) || memcmp(l->magic, magic, sizeof(magic)) != 0)
		return vf_refuse(EINVAL,
				 "ibv_import_device: cmd_fd %d is not that of an open device", fd);
	if (l->pid != (uint64_t)getpid())
		return vf_refuse(EOPNOTSUPP,
				 "ibv_import_device: cmd_fd %d is of process %llu; devices are "
				 "shared within one process only",
				 fd, (unsigned long long)l->pid);
	return 0;
}

/* ---- open and close ---- */

static int answer_unsupported(void) { return vf_api_code(vf_no_support("this operation")); }

static void *answer_no_object(void) { return vf_api_null(vf_no_support("this operation")); }

static int no_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq, (void)num_entries, (void)wc;
	return -answer_unsupported();
}

static int no_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq, (void)solicited_only;
	return answer_unsupported();
}

static int no_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	*bad = wr;
	return answer_unsupported();
}

static int no_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	*bad = wr;
	return answer_unsupported();
}

static int no_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	*bad = wr;
	return answer_unsupported();
}

/* What a program finds in ops when the provider leaves something out. The _compat_ slots keep
 * places only. */
static void fill_ops(struct ibv_context_ops *ops)
{
	void *(*none)(void) = answer_no_object;

	*ops = (struct ibv_context_ops){
		._compat_query_device = ibv_query_device,
		._compat_query_port = (ibv_query_port),
		._compat_alloc_pd = none,
		._compat_dealloc_pd = none,
		._compat_reg_mr = none,
		._compat_rereg_mr = none,
		._compat_dereg_mr = none,
		.alloc_mw = vf_verb_alloc_mw,
		.bind_mw = vf_verb_bind_mw,
		.dealloc_mw = vf_verb_dealloc_mw,
		._compat_create_cq = none,
		.poll_cq = no_poll_cq,
		.req_notify_cq = no_req_notify_cq,
		._compat_cq_event = none,
		._compat_resize_cq = none,
		._compat_destroy_cq = none,
		._compat_create_srq = none,
		._compat_modify_srq = none,
		._compat_query_srq = none,
		._compat_destroy_srq = none,
		.post_srq_recv = no_post_srq_recv,
		._compat_create_qp = none,
		._compat_query_qp = none,
		._compat_modify_qp = none,
		._compat_destroy_qp = none,
		.post_send = no_post_send,
		.post_recv = no_post_recv,
		._compat_create_ah = none,
		._compat_destroy_ah = none,
		._compat_attach_mcast = none,
		._compat_detach_mcast = none,
		._compat_async_event = none,
	};
}

/* Everything of a context but the provider's part. @cmd_fd becomes the context's. */
static int context_create(struct vf_device *dev, uint64_t family, int cmd_fd,
			  struct vf_api_context **out)
{
	struct vf_api_context *c = calloc(1, sizeof(*c));
	struct ibv_context *ibv;
	int err;

	if (!c)
		return vf_refuse(ENOMEM, "%s: no memory for a context", dev->ibv.name);
	err = vf_event_queue_create(&c->ctx.async);
	if (err) {
		free(c);
		return err;
	}
	c->family = family;
	c->ctx.device = dev;
	vf_device_get(dev);
	vf_list_init(&c->link);
	c->ctx.verbs.sz = sizeof(c->ctx.verbs);
	ibv = &c->ctx.verbs.context;
	ibv->device = &dev->ibv;
	ibv->cmd_fd = cmd_fd;
	ibv->async_fd = vf_event_queue_fd(c->ctx.async);
	ibv->num_comp_vectors = 1;
	ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&ibv->mutex, NULL);
	fill_ops(&ibv->ops);
	vf_slots_fill(&c->ctx.verbs);
	*out = c;
	return 0;
}

/* The cmd_fd stays. */
static void context_free(struct vf_api_context *c)
{
	vf_event_queue_destroy(c->ctx.async);
	pthread_mutex_destroy(&c->ctx.verbs.context.mutex);
	vf_device_put(c->ctx.device);
	free(c);
}

static int context_open(struct vf_device *dev, uint64_t family, int cmd_fd,
			struct ibv_context **out)
{
	struct vf_api_context *c = NULL;
	int err = context_create(dev, family, cmd_fd, &c);

	if (err)
		return err;
	err = dev->ops->open(&c->ctx);
	if (err) {
		context_free(c);
		return err;
	}
	if (dev->ops->query_device(&c->ctx, &c->attr) || c->attr.orig_attr.phys_port_cnt == 0)
		c->attr.orig_attr.phys_port_cnt = 1;
	pthread_mutex_lock(&lock);
	vf_list_add_tail(&open_contexts, &c->link);
	pthread_mutex_unlock(&lock);
	*out = &c->ctx.verbs.context;
	return 0;
}

static void context_end(struct vf_api_context *c)
{
	int cmd_fd = c->ctx.verbs.context.cmd_fd;

	c->ctx.device->ops->close(&c->ctx);
	context_free(c);
	if (cmd_fd >= 0)
		close(cmd_fd);
}

VF_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	uint64_t family = atomic_fetch_add(&families, 1) + 1;
	struct ibv_context *context;
	int err, cmd_fd = -1;

	if (!device)
		return vf_api_null(vf_is_null(__func__, "device"));
	if (!vf_device_is_known(device))
		return vf_api_null(vf_refuse(EINVAL,
					     "ibv_open_device: the device is in no list: it "
					     "was freed, or another library made it"));
	err = label_open(family, &cmd_fd);
	if (!err)
		err = context_open(VF_CONTAINER_OF(device, struct vf_device, ibv), family, cmd_fd,
				   &context);
	if (!err)
		return context;
	if (cmd_fd >= 0)
		close(cmd_fd);
	return vf_api_null(err);
}

bool vf_context_is_open(const struct ibv_context *context)
{
	bool is_open = false;

	pthread_mutex_lock(&lock);
	VF_LIST_FOR_EACH (it, &open_contexts) {
		struct vf_api_context *c = VF_LIST_ENTRY(it, struct vf_api_context, link);

		is_open = is_open || &c->ctx.verbs.context == context;
	}
	pthread_mutex_unlock(&lock);
	return is_open;
}

bool vf_device_is_open(const struct ibv_device *dev)
{
	bool is_open = false;

	pthread_mutex_lock(&lock);
	VF_LIST_FOR_EACH (it, &open_contexts) {
		struct vf_api_context *c = VF_LIST_ENTRY(it, struct vf_api_context, link);

		is_open = is_open || &c->ctx.device->ibv == dev;
	}
	pthread_mutex_unlock(&lock);
	return is_open;
}

VF_EXPORT int ibv_close_device(struct ibv_context *context)
{
	struct vf_api_context *c = NULL;
	int users;

	if (!context)
		return vf_api_code(vf_is_null(__func__, "context"));
	if (!vf_context_is_open(context))
		return vf_api_code(vf_refuse(EINVAL, "ibv_close_device: the context is not open"));
	c = vf_api_ctx(context);
	/* Counts as a user itself, so that exactly one of us and the last object ends it. */
	vf_context_use(context);
	pthread_mutex_lock(&lock);
	vf_list_del(&c->link);
	c->is_closed = true;
	pthread_mutex_unlock(&lock);
	users = atomic_load(&c->ctx.users) - 1;
	if (users > 0)
		vf_log(VF_LOG_WARN,
		       "%s: closed while %d objects live in it; it goes with the last one",
		       context->device->name, users);
	vf_context_unuse(context);
	return 0;
}

void vf_context_use(struct ibv_context *context) { atomic_fetch_add(&vf_ctx(context)->users, 1); }

void vf_context_unuse(struct ibv_context *context)
{
	struct vf_api_context *c = vf_api_ctx(context);
	bool is_end;

	pthread_mutex_lock(&lock);
	is_end = atomic_fetch_sub(&c->ctx.users, 1) == 1 && c->is_closed;
	pthread_mutex_unlock(&lock);
	if (is_end)
		context_end(c);
}

/* ---- import ---- */

/* A reference to the device of an open context of @family. */
static struct vf_device *device_of_family(uint64_t family)
{
	struct vf_device *dev = NULL;

	pthread_mutex_lock(&lock);
	VF_LIST_FOR_EACH (it, &open_contexts) {
		struct vf_api_context *c = VF_LIST_ENTRY(it, struct vf_api_context, link);

		if (!dev && c->family == family) {
			dev = c->ctx.device;
			vf_device_get(dev);
		}
	}
	pthread_mutex_unlock(&lock);
	return dev;
}

/* The descriptor is the new context's and is closed with it; when the import fails it stays the
 * caller's. */
VF_EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
	struct ibv_context *context;
	struct vf_device *dev;
	struct label l;
	int err = label_read(cmd_fd, &l);

	if (err)
		return vf_api_null(err);
	dev = device_of_family(l.family);
	if (!dev)
		return vf_api_null(vf_refuse(ENODEV,
					     "ibv_import_device: the device of cmd_fd %d was "
					     "closed",
					     cmd_fd));
	err = context_open(dev, l.family, cmd_fd, &context);
	vf_device_put(dev);
	return err ? vf_api_null(err) : context;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake kind of device. Objects are zeroed memory; nothing is sent anywhere. */
#include "fake.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fake fake;

static int take_error(void)
{
	int e = atomic_exchange(&fake.error, 0);

	return e ? vf_refuse(e, "the fake device was told to fail") : 0;
}

static void *make(size_t size)
{
	void *p = calloc(1, size);

	assert_non_null(p);
	fake.live++;
	return p;
}

static void end(void *p)
{
	memset(p, 0xa5, sizeof(struct ibv_pd)); /* whoever looks again will notice */
	fake.live--;
	free(p);
}

/* ---- devices ---- */

static void free_device(struct vf_device *dev) { end(dev); }

static const struct vf_provider_ops fake_ops;

static int list_devices(struct vf_device_list *list)
{
	static const char *const names[] = {"vf_fake0", "vf_fake1"};

	vf_device_list_skip(list, "eth9", "no carrier");
	for (int i = 0; i < fake.device_count; i++) {
		struct vf_device *dev = make(sizeof(*dev));

		strcpy(dev->ibv.name, names[i]);
		dev->ops = &fake_ops;
		dev->refs = 1;
		dev->guid = 0x0200000000000010 + (uint64_t)i;
		if (vf_device_list_add(list, dev))
			return -ENOMEM;
	}
	return take_error();
}

static int open_device(struct vf_context *ctx)
{
	int err = take_error();

	if (!err)
		fake.live++;
	ctx->provider = &fake;
	return err;
}

static void close_device(struct vf_context *ctx)
{
	assert_ptr_equal(ctx->provider, &fake);
	fake.live--;
}

static int query_device(struct vf_context *ctx, struct ibv_device_attr_ex *attr)
{
	attr->orig_attr.node_guid = ctx->device->guid;
	attr->orig_attr.phys_port_cnt = 1;
	attr->orig_attr.max_pkeys = 1;
	attr->orig_attr.max_qp_rd_atom = 16;
	attr->orig_attr.max_qp_init_rd_atom = 8;
	attr->orig_attr.max_qp = 64;
	attr->orig_attr.device_cap_flags = fake.cap_flags;
	attr->phys_port_cnt_ex = 1;
	return 0;
}

static int query_port(struct vf_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	(void)ctx;
	assert_int_equal(port, 1);
	attr->state = IBV_PORT_ACTIVE;
	attr->active_mtu = fake.active_mtu;
	attr->max_mtu = IBV_MTU_4096;
	attr->gid_tbl_len = 4;
	attr->pkey_tbl_len = 1;
	attr->link_layer = fake.link_layer;
	attr->active_width = (uint8_t)fake.active_width;
	attr->active_speed = (uint8_t)fake.active_speed;
	attr->flags = 0x5a;
	attr->port_cap_flags2 = 0x1234;
	attr->active_speed_ex = 0;
	return 0;
}

static int query_gid(struct vf_context *ctx, uint8_t port, int index, struct ibv_gid_entry *entry)
{
	static const union ibv_gid zero;

	(void)ctx, (void)port;
	if (index < 0 || index >= 4)
		return -EINVAL;
	if (memcmp(&fake.gid[index], &zero, sizeof(zero)) == 0)
		return -ENODATA;
	entry->gid = fake.gid[index];
	entry->gid_type = IBV_GID_TYPE_ROCE_V2;
	entry->ndev_ifindex = 7;
	return 0;
}

static int query_pkey(struct vf_context *ctx, uint8_t port, int index, uint16_t *pkey_be)
{
	(void)ctx, (void)port, (void)index;
	*pkey_be = 0xffff;
	return 0;
}

static int query_counters(struct vf_context *ctx, struct vf_counter *out, unsigned max,
			  unsigned *count)
{
	(void)ctx;
	*count = 2;
	if (max > 0)
		out[0] = (struct vf_counter){"first", 1};
	if (max > 1)
		out[1] = (struct vf_counter){"second", 2};
	return 0;
}

/* ---- objects ---- */

static int alloc_pd(struct vf_context *ctx, struct vf_pd **out)
{
	int err = take_error();

	(void)ctx;
	if (!err)
		*out = make(sizeof(**out));
	return err;
}

static int dealloc_pd(struct vf_pd *pd)
{
	int err = take_error();

	if (!err)
		end(pd);
	return err;
}

static int make_mr(struct vf_pd *pd, struct vf_mr **out)
{
	static uint32_t key = 0x1000;
	int err = take_error();

	fake.last_pd = pd;
	if (err)
		return err;
	*out = make(sizeof(**out));
	(*out)->ibv.lkey = (*out)->ibv.rkey = key += 0x100;
	return 0;
}

static int reg_mr(struct vf_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access,
		  struct vf_mr **out)
{
	(void)addr, (void)length, (void)access;
	fake.last_iova = iova;
	return make_mr(pd, out);
}

static int reg_dmabuf_mr(struct vf_pd *pd, const struct vf_dmabuf *buf, unsigned access,
			 struct vf_mr **out)
{
	(void)access;
	fake.last_iova = buf->iova;
	return make_mr(pd, out);
}

static int rereg_mr(struct vf_mr *mr, int flags, struct vf_pd *pd, void *addr, size_t length,
		    int access)
{
	(void)mr, (void)flags, (void)addr, (void)length, (void)access;
	fake.last_pd = pd;
	return take_error();
}

static int dereg_mr(struct vf_mr *mr)
{
	int err = take_error();

	if (!err)
		end(mr);
	return err;
}

static int alloc_mw(struct vf_pd *pd, enum ibv_mw_type type, struct vf_mw **out)
{
	(void)pd, (void)type;
	*out = make(sizeof(**out));
	return 0;
}

static int dealloc_mw(struct vf_mw *mw)
{
	end(mw);
	return 0;
}

static int bind_mw(struct vf_qp *qp, struct vf_mw *mw, struct ibv_mw_bind *bind)
{
	(void)qp, (void)mw, (void)bind;
	return 0;
}

struct fake_cq {
	struct vf_cq vf;
	struct vf_event event;
};

static int create_cq(struct vf_context *ctx, struct ibv_cq_init_attr_ex *attr, struct vf_cq **out)
{
	struct fake_cq *cq;
	int err = take_error();

	(void)ctx;
	if (err)
		return err;
	cq = make(sizeof(*cq));
	cq->vf.ibv.cqe = (int)attr->cqe;
	cq->event.cq = &cq->vf;
	*out = &cq->vf;
	return 0;
}

static int resize_cq(struct vf_cq *cq, int cqe)
{
	cq->ibv.cqe = cqe;
	return 0;
}

static int destroy_cq(struct vf_cq *cq)
{
	int err = take_error();

	if (!err)
		end(cq);
	return err;
}

static int create_srq(struct vf_pd *pd, struct ibv_srq_init_attr_ex *attr, struct vf_srq **out)
{
	int err = take_error();

	fake.last_pd = pd;
	if (err)
		return err;
	attr->attr.max_wr += 1; /* granted more than asked for */
	*out = make(sizeof(**out));
	return 0;
}

static int modify_srq(struct vf_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	(void)srq, (void)attr, (void)mask;
	return take_error();
}

static int query_srq(struct vf_srq *srq, struct ibv_srq_attr *attr)
{
	(void)srq;
	attr->max_wr = 77;
	return 0;
}

static int destroy_srq(struct vf_srq *srq)
{
	end(srq);
	return 0;
}

static int create_qp(struct vf_context *ctx, struct ibv_qp_init_attr_ex *attr, struct vf_qp **out)
{
	static uint32_t number = 0x11;
	int err = take_error();

	(void)ctx;
	fake.last_pd = (struct vf_pd *)(void *)attr->pd;
	if (err)
		return err;
	attr->cap.max_inline_data = 1024;
	*out = make(sizeof(**out));
	(*out)->ibv.qp_num = number++;
	return 0;
}

static int modify_qp(struct vf_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	fake.last_av = attr->ah_attr;
	fake.last_mtu = attr->path_mtu;
	fake.last_mask = mask;
	return take_error();
}

static int query_qp(struct vf_qp *qp, struct ibv_qp_attr *attr, struct ibv_qp_init_attr *init)
{
	(void)init;
	attr->qp_state = fake.has_own_state ? fake.state : qp->ibv.state;
	return 0;
}

static int destroy_qp(struct vf_qp *qp)
{
	int err = take_error();

	if (!err)
		end(qp);
	return err;
}

static int create_ah(struct vf_pd *pd, struct ibv_ah_attr *attr, struct vf_ah **out)
{
	int err = take_error();

	fake.last_av = *attr;
	fake.last_pd = pd;
	if (!err)
		*out = make(sizeof(**out));
	return err;
}

static int destroy_ah(struct vf_ah *ah)
{
	end(ah);
	return 0;
}

static int mcast(struct vf_qp *qp, const union ibv_gid *gid)
{
	(void)qp, (void)gid;
	return 0;
}

/* alloc_null_mr, modify_cq, advise_mr and query_rt_values are left out on purpose. */
static const struct vf_provider_ops fake_ops = {
	.name = "fake",
	.list_devices = list_devices,
	.free_device = free_device,
	.open = open_device,
	.close = close_device,
	.query_device = query_device,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_counters = query_counters,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.reg_mr = reg_mr,
	.reg_dmabuf_mr = reg_dmabuf_mr,
	.rereg_mr = rereg_mr,
	.dereg_mr = dereg_mr,
	.alloc_mw = alloc_mw,
	.dealloc_mw = dealloc_mw,
	.bind_mw = bind_mw,
	.create_cq = create_cq,
	.resize_cq = resize_cq,
	.destroy_cq = destroy_cq,
	.create_srq = create_srq,
	.modify_srq = modify_srq,
	.query_srq = query_srq,
	.destroy_srq = destroy_srq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.destroy_qp = destroy_qp,
	.create_ah = create_ah,
	.destroy_ah = destroy_ah,
	.attach_mcast = mcast,
	.detach_mcast = mcast,
};

const struct vf_provider_ops *const vf_providers[] = {&fake_ops, NULL};

/* ---- for tests ---- */

void fake_reset(void)
{
	static const union ibv_gid link_local = {.raw = {0xfe, 0x80, [15] = 1}};
	static const union ibv_gid ipv4 = {.raw = {[10] = 0xff, 0xff, 10, 0, 0, 1}};

	fake.error = 0;
	fake_live(); /* the devices that the library remembers */
	memset(&fake, 0, sizeof(fake));
	fake.device_count = 2;
	fake.active_mtu = IBV_MTU_1024;
	fake.link_layer = IBV_LINK_LAYER_ETHERNET;
	fake.gid[0] = link_local;
	fake.gid[1] = ipv4;
}

int fake_live(void)
{
	int count = fake.device_count;

	fake.device_count = 0;
	ibv_free_device_list(ibv_get_device_list(NULL));
	fake.device_count = count;
	return fake.live;
}

void fake_complete(struct ibv_cq *cq)
{
	struct fake_cq *f = (struct fake_cq *)(void *)cq;

	vf_event_queue_put(((struct vf_comp_channel *)(void *)cq->channel)->queue, &f->event);
}

void fake_async(struct ibv_context *context, enum ibv_event_type type, void *object)
{
	struct ibv_async_event e = {.event_type = type};

	if (object)
		e.element.qp = object;
	vf_event_queue_put_async(VF_CONTAINER_OF(context, struct vf_context, verbs.context)->async,
				 &e);
}

struct ibv_context *fake_open_nth(int n)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	assert_non_null(list);
	assert_non_null(list[n]);
	ctx = ibv_open_device(list[n]);
	assert_non_null(ctx);
	ibv_free_device_list(list);
	return ctx;
}

struct ibv_context *fake_open(void) { return fake_open_nth(0); }

void fake_rig_make(struct fake_rig *r)
{
	r->ctx = fake_open();
	r->pd = ibv_alloc_pd(r->ctx);
	assert_non_null(r->pd);
	r->cq = ibv_create_cq(r->ctx, 16, NULL, NULL, 0);
	assert_non_null(r->cq);
}

void fake_rig_end(struct fake_rig *r)
{
	assert_int_equal(ibv_destroy_cq(r->cq), 0);
	assert_int_equal(ibv_dealloc_pd(r->pd), 0);
	assert_int_equal(ibv_close_device(r->ctx), 0);
	assert_int_equal(fake_live(), 0);
}

struct ibv_qp *fake_qp(const struct fake_rig *r, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr a = {
		.send_cq = r->cq, .recv_cq = r->cq, .qp_type = type, .cap.max_send_wr = 4};
	struct ibv_qp *qp = ibv_create_qp(r->pd, &a);

	assert_non_null(qp);
	return qp;
}

struct ibv_ah_attr fake_av(void)
{
	struct ibv_ah_attr av = {.is_global = 1, .port_num = 1};

	av.grh.dgid = fake.gid[1];
	av.grh.dgid.raw[15] = 2;
	av.grh.sgid_index = 1;
	av.grh.hop_limit = 64;
	return av;
}

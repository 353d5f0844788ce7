/* SPDX-License-Identifier: BSD-2-Clause */
/* Open devices: each holds the process's network side and keys, and hears of changes of its interface. */
#include <errno.h>
#include <stdlib.h>

#include "memory/guard.h"
#include "provider/soft/soft.h"

struct soft_context *soft_ctx_of(struct ibv_context *context)
{
	return soft_ctx(VF_CONTAINER_OF(context, struct vf_context, verbs.context));
}

static void set_data_path(struct ibv_context *c)
{
	c->num_comp_vectors = 1;
	c->ops.poll_cq = soft_poll_cq;
	c->ops.req_notify_cq = soft_req_notify_cq;
	c->ops.post_srq_recv = soft_post_srq_recv;
	c->ops.post_send = soft_post_send;
	c->ops.post_recv = soft_post_recv;
}

int soft_open(struct vf_context *ctx)
{
	struct soft_context *sc = calloc(1, sizeof(*sc));
	int err;

	if (!sc)
		return vf_refuse(ENOMEM, "no memory for a context");
	sc->vf = ctx;
	sc->dev = (struct soft_device *)(void *)ctx->device;
	err = vf_guard_install();
	if (err)
		goto free_context;
	err = vf_soft_net_get(&sc->net);
	if (err)
		goto free_context;
	sc->keys = soft_keys_get();
	if (!sc->keys) {
		err = vf_refuse(ENOMEM, "no memory for a table of keys");
		goto put_net;
	}
	ctx->provider = sc;
	set_data_path(&ctx->verbs.context);
	soft_registry_lock();
	vf_list_add_tail(&sc->dev->contexts, &sc->link);
	soft_registry_unlock();
	soft_devices_refresh(); /* the interface may have changed since the list was made */
	return 0;
put_net:
	vf_soft_net_put(sc->net);
free_context:
	free(sc);
	return err;
}

void soft_close(struct vf_context *ctx)
{
	struct soft_context *sc = soft_ctx(ctx);

	soft_registry_lock();
	vf_list_del(&sc->link);
	soft_registry_unlock();
	soft_keys_put(sc->keys);
	vf_soft_net_put(sc->net);
	free(sc);
	ctx->provider = NULL;
}

void soft_context_event(struct soft_context *sc, enum ibv_event_type type)
{
	struct ibv_async_event e = {.event_type = type};

	e.element.port_num = SOFT_PORT;
	soft_context_put_event(sc, &e);
}

void soft_context_put_event(struct soft_context *sc, const struct ibv_async_event *e)
{
	if (!sc->is_orphan)
		vf_event_queue_put_async(sc->vf->async, e);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moving a queue pair from state to state: whether the move may be made (qp_moves.c) and whether
 * each attribute is in its range, before the provider is asked. Every refusal names attribute,
 * value and range. IBTA 11.2.5.2.
 */
#include "verbs/api.h"

#include <stdio.h>

static int out_of_range(const char *name, unsigned value, unsigned least, unsigned most)
{
	return vf_refuse(EINVAL, "ibv_modify_qp: %s %u, allowed are %u to %u", name, value, least,
			 most);
}

/* Attributes that are plain numbers with fixed limits. */
static int check_numbers(const struct ibv_qp_attr *a, int mask)
{
	enum { PSN_MAX = 0xffffff, QPN_MAX = 0xffffff, CODE_MAX = 31, COUNT_MAX = 7 };
	const struct {
		int bit;
		const char *name;
		unsigned value, least, most;
	} rows[] = {
		{IBV_QP_DEST_QPN, "dest_qp_num", a->dest_qp_num, 0, QPN_MAX},
		{IBV_QP_RQ_PSN, "rq_psn", a->rq_psn, 0, PSN_MAX},
		{IBV_QP_SQ_PSN, "sq_psn", a->sq_psn, 0, PSN_MAX},
		{IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", a->min_rnr_timer, 0, CODE_MAX},
		{IBV_QP_TIMEOUT, "timeout", a->timeout, 0, CODE_MAX},
		{IBV_QP_RETRY_CNT, "retry_cnt", a->retry_cnt, 0, COUNT_MAX},
		{IBV_QP_RNR_RETRY, "rnr_retry", a->rnr_retry, 0, COUNT_MAX},
	};

	for (size_t i = 0; i < VF_ARRAY_SIZE(rows); i++)
		if (mask & rows[i].bit &&
		    (rows[i].value < rows[i].least || rows[i].value > rows[i].most))
			return out_of_range(rows[i].name, rows[i].value, rows[i].least,
					    rows[i].most);
	return 0;
}

/* Attributes that the device limits. */
static int check_limits(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	const struct ibv_device_attr *caps = &vf_api_ctx(qp->context)->attr.orig_attr;

	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && (int)a->max_rd_atomic > caps->max_qp_init_rd_atom)
		return out_of_range("max_rd_atomic", a->max_rd_atomic, 0,
				    (unsigned)caps->max_qp_init_rd_atom);
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC && (int)a->max_dest_rd_atomic > caps->max_qp_rd_atom)
		return out_of_range("max_dest_rd_atomic", a->max_dest_rd_atomic, 0,
				    (unsigned)caps->max_qp_rd_atom);
	if (mask & IBV_QP_PKEY_INDEX && a->pkey_index >= caps->max_pkeys)
		return vf_refuse(EINVAL, "ibv_modify_qp: pkey_index %u, the table has %u entries",
				 a->pkey_index, caps->max_pkeys);
	if (mask & IBV_QP_PORT)
		return vf_check_port("ibv_modify_qp: port_num", qp->context, a->port_num);
	return 0;
}

static int check_access(const struct ibv_qp_attr *a, int mask)
{
	const unsigned known = (IBV_ACCESS_FLUSH_PERSISTENT << 1) - 1;

	if (mask & IBV_QP_ACCESS_FLAGS && a->qp_access_flags & ~known)
		return vf_refuse(EINVAL, "ibv_modify_qp: qp_access_flags 0x%x, known are 0x%x",
				 a->qp_access_flags, known);
	return 0;
}

static int check_mtu(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	struct ibv_port_attr port = {.active_mtu = IBV_MTU_4096};
	uint8_t number = mask & IBV_QP_AV ? a->ah_attr.port_num : 1;

	if (!(mask & IBV_QP_PATH_MTU))
		return 0;
	if (a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096)
		return vf_refuse(EINVAL,
				 "ibv_modify_qp: path_mtu %d, allowed are %d (256 bytes) to %d "
				 "(4096 bytes)",
				 (int)a->path_mtu, (int)IBV_MTU_256, (int)IBV_MTU_4096);
	if (vf_ops(qp->context)->query_port(vf_ctx(qp->context), number, &port))
		return 0;
	if (a->path_mtu > port.active_mtu)
		return vf_refuse(
			EINVAL,
			"ibv_modify_qp: path_mtu %d (%u bytes), but port %u has active_mtu %d "
			"(%u bytes)",
			(int)a->path_mtu, 128u << a->path_mtu, number, (int)port.active_mtu,
			128u << port.active_mtu);
	return 0;
}

/* Automatic path migration is a capability; without it there is one path, which is "migrated". */
static int check_paths(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	const struct ibv_device_attr *caps = &vf_api_ctx(qp->context)->attr.orig_attr;
	bool has_apm = caps->device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG;
	int err = 0;

	if (mask & IBV_QP_AV)
		err = vf_check_av(qp->context, &a->ah_attr, "ah_attr", VF_AV_CONNECTED);
	if (err)
		return err;
	if (mask & IBV_QP_ALT_PATH && !has_apm)
		return vf_refuse(EOPNOTSUPP,
				 "ibv_modify_qp: alt_ah_attr: %s has no automatic path "
				 "migration",
				 qp->context->device->name);
	if (mask & IBV_QP_PATH_MIG_STATE && !has_apm && a->path_mig_state != IBV_MIG_MIGRATED)
		return vf_refuse(EOPNOTSUPP,
				 "ibv_modify_qp: path_mig_state %d: %s has no automatic path "
				 "migration, allowed is %d",
				 (int)a->path_mig_state, qp->context->device->name,
				 (int)IBV_MIG_MIGRATED);
	if (mask & IBV_QP_ALT_PATH)
		err = vf_check_av(qp->context, &a->alt_ah_attr, "alt_ah_attr", VF_AV_CONNECTED);
	return err;
}

static int check_attributes(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	int err = check_numbers(a, mask);

	if (!err)
		err = check_limits(qp, a, mask);
	if (!err)
		err = check_access(a, mask);
	if (!err)
		err = check_paths(qp, a, mask);
	if (!err)
		err = check_mtu(qp, a, mask);
	return err;
}

/* The state it is in now: it may have left the one that the program gave it last. */
static enum ibv_qp_state state_now(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = qp->state};
	struct ibv_qp_init_attr i;

	if (vf_ops(qp->context)->query_qp(vf_qp(qp), &a, &i))
		return qp->state;
	return a.qp_state;
}

static int check_move(struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask)
{
	enum ibv_qp_state from = state_now(qp);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? a->qp_state : from;

	if (mask & IBV_QP_CUR_STATE && a->cur_qp_state != from)
		return vf_refuse(EINVAL, "ibv_modify_qp: cur_qp_state %s, but QP 0x%x is in %s",
				 vf_qp_state_name(a->cur_qp_state), qp->qp_num,
				 vf_qp_state_name(from));
	return vf_qp_move_check(qp->qp_type, from, to, mask);
}

VF_EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct ibv_qp_attr resolved;
	int err;

	if (!qp || !attr)
		return vf_api_code(vf_is_null(__func__, qp ? "attr" : "qp"));
	if (attr_mask & IBV_QP_AV && !attr->ah_attr.is_global) {
		resolved = *attr;
		vf_lid_resolve_qp(qp->context, &resolved, attr_mask);
		attr = &resolved;
	}
	err = check_move(qp, attr, attr_mask);
	if (!err)
		err = check_attributes(qp, attr, attr_mask);
	if (!err)
		err = vf_ops(qp->context)->modify_qp(vf_qp(qp), attr, attr_mask);
	if (!err && attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return vf_api_code(err);
}

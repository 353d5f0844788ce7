/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The states of a queue pair and the attributes that each move between them needs and bears. IBTA 11.2.5.2, table 91; IBTA 10.3.1.
 *
 *	         ┌──────────────────────── any ───────────────────────┐
 *	         ▼                                                    ▼
 *	       RESET ──▶ INIT ──▶ RTR ──▶ RTS ◀──▶ SQD               ERR
 *	                  ↺                ↺  ▲      ↺
 *	                                      │
 *	                                     SQE
 *
 * SQE and ERR are entered by the device itself too. Prohibited: everything that is not in the table; RESET and ERR bear no attribute but the
 * state.
 */
#include "verbs/api.h"

#include <stdio.h>

enum { RC, UC, UD, TYPES };

#define STATE_COUNT (IBV_QPS_ERR + 1)

/* What many moves of connected queue pairs bear. */
#define PATH_CHANGES                                                                              \
	(IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE)
#define ADDRESS (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RETRIES (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

struct move {
	bool is_legal;
	int needs[TYPES];
	int bears[TYPES]; /* besides what it needs */
};

static const struct move moves[STATE_COUNT][STATE_COUNT] = {
	[IBV_QPS_RESET] = {
		[IBV_QPS_INIT] = {
			.is_legal = true,
			.needs = {
				[RC] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
				[UC] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
				[UD] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
			},
		},
	},
	[IBV_QPS_INIT] = {
		[IBV_QPS_INIT] = {
			.is_legal = true,
			.bears = {
				[RC] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
				[UC] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
				[UD] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
			},
		},
		[IBV_QPS_RTR] = {
			.is_legal = true,
			.needs = {
				[RC] = ADDRESS | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
				[UC] = ADDRESS,
			},
			.bears = {
				[RC] = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
				[UC] = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
				[UD] = IBV_QP_PKEY_INDEX | IBV_QP_QKEY,
			},
		},
	},
	[IBV_QPS_RTR] = {
		[IBV_QPS_RTS] = {
			.is_legal = true,
			.needs = {
				[RC] = RETRIES | IBV_QP_SQ_PSN,
				[UC] = IBV_QP_SQ_PSN,
				[UD] = IBV_QP_SQ_PSN,
			},
			.bears = {
				[RC] = IBV_QP_CUR_STATE | PATH_CHANGES | IBV_QP_MIN_RNR_TIMER,
				[UC] = IBV_QP_CUR_STATE | PATH_CHANGES,
				[UD] = IBV_QP_CUR_STATE | IBV_QP_QKEY,
			},
		},
	},
	[IBV_QPS_RTS] = {
		[IBV_QPS_RTS] = {
			.is_legal = true,
			.bears = {
				[RC] = IBV_QP_CUR_STATE | PATH_CHANGES | IBV_QP_MIN_RNR_TIMER,
				[UC] = IBV_QP_CUR_STATE | PATH_CHANGES,
				[UD] = IBV_QP_CUR_STATE | IBV_QP_QKEY,
			},
		},
		[IBV_QPS_SQD] = {
			.is_legal = true,
			.bears = {
				[RC] = IBV_QP_EN_SQD_ASYNC_NOTIFY,
				[UC] = IBV_QP_EN_SQD_ASYNC_NOTIFY,
				[UD] = IBV_QP_EN_SQD_ASYNC_NOTIFY,
			},
		},
	},
	[IBV_QPS_SQD] = {
		[IBV_QPS_RTS] = {
			.is_legal = true,
			.bears = {
				[RC] = IBV_QP_CUR_STATE | PATH_CHANGES | IBV_QP_MIN_RNR_TIMER,
				[UC] = IBV_QP_CUR_STATE | PATH_CHANGES,
				[UD] = IBV_QP_CUR_STATE | IBV_QP_QKEY,
			},
		},
		[IBV_QPS_SQD] = {
			.is_legal = true,
			.bears = {
				[RC] = IBV_QP_PORT | IBV_QP_AV | RETRIES |
				       IBV_QP_MAX_DEST_RD_ATOMIC | PATH_CHANGES |
				       IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER,
				[UC] = IBV_QP_AV | PATH_CHANGES | IBV_QP_PKEY_INDEX,
				[UD] = IBV_QP_PKEY_INDEX | IBV_QP_QKEY,
			},
		},
	},
	[IBV_QPS_SQE] = {
		[IBV_QPS_RTS] = {
			/* RC has no SQE: its errors end in ERR */
			.is_legal = true,
			.bears = {
				[UC] = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS,
				[UD] = IBV_QP_CUR_STATE | IBV_QP_QKEY,
			},
		},
	},
};

static const struct {
	int bit;
	const char *name;
} attributes[] = {
	{IBV_QP_STATE, "qp_state"},
	{IBV_QP_CUR_STATE, "cur_qp_state"},
	{IBV_QP_EN_SQD_ASYNC_NOTIFY, "en_sqd_async_notify"},
	{IBV_QP_ACCESS_FLAGS, "qp_access_flags"},
	{IBV_QP_PKEY_INDEX, "pkey_index"},
	{IBV_QP_PORT, "port_num"},
	{IBV_QP_QKEY, "qkey"},
	{IBV_QP_AV, "ah_attr"},
	{IBV_QP_PATH_MTU, "path_mtu"},
	{IBV_QP_TIMEOUT, "timeout"},
	{IBV_QP_RETRY_CNT, "retry_cnt"},
	{IBV_QP_RNR_RETRY, "rnr_retry"},
	{IBV_QP_RQ_PSN, "rq_psn"},
	{IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic"},
	{IBV_QP_ALT_PATH, "alt_ah_attr"},
	{IBV_QP_MIN_RNR_TIMER, "min_rnr_timer"},
	{IBV_QP_SQ_PSN, "sq_psn"},
	{IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic"},
	{IBV_QP_PATH_MIG_STATE, "path_mig_state"},
	{IBV_QP_CAP, "cap"},
	{IBV_QP_DEST_QPN, "dest_qp_num"},
	{IBV_QP_RATE_LIMIT, "rate_limit"},
};

static void mask_text(int mask, char *out, size_t len)
{
	size_t used = 0;
	int rest = mask;

	out[0] = 0;
	for (size_t i = 0; i < VF_ARRAY_SIZE(attributes) && used < len; i++) {
		if (!(mask & attributes[i].bit))
			continue;
		used += (size_t)snprintf(out + used, len - used, "%s%s", used ? ", " : "",
					 attributes[i].name);
		rest &= ~attributes[i].bit;
	}
	if (rest && used < len)
		snprintf(out + used, len - used, "%s0x%x", used ? ", " : "", (unsigned)rest);
}

const char *vf_qp_state_name(enum ibv_qp_state state)
{
	static const char *const names[STATE_COUNT] = {"RESET", "INIT", "RTR", "RTS",
						       "SQD",	"SQE",	"ERR"};

	return (unsigned)state < STATE_COUNT ? names[state] : "?";
}

const char *vf_qp_type_name(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_UC:
		return "UC";
	case IBV_QPT_UD:
		return "UD";
	case IBV_QPT_RAW_PACKET:
		return "RAW_PACKET";
	case IBV_QPT_XRC_SEND:
		return "XRC_SEND";
	case IBV_QPT_XRC_RECV:
		return "XRC_RECV";
	case IBV_QPT_DRIVER:
		return "DRIVER";
	default:
		return "?";
	}
}

static int row_of(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? RC : type == IBV_QPT_UC ? UC : UD;
}

/* How the call is named in messages: "RC from RESET to RTR". */
struct attempt {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	int mask;
};

static int judge(const struct attempt *a, int needs, int bears)
{
	int missing = needs & ~a->mask;
	int forbidden = a->mask & ~(needs | bears | IBV_QP_STATE);
	char text[320];

	if (!missing && !forbidden)
		return 0;
	mask_text(missing ? missing : forbidden, text, sizeof(text));
	return vf_refuse(EINVAL, "ibv_modify_qp: %s from %s to %s: attr_mask 0x%x %s %s",
			 vf_qp_type_name(a->type), vf_qp_state_name(a->from),
			 vf_qp_state_name(a->to), (unsigned)a->mask,
			 missing ? "lacks" : "may not have", text);
}

int vf_qp_move_check(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const struct attempt a = {type, from, to, mask};
	const struct move *m;

	if ((unsigned)from >= STATE_COUNT || (unsigned)to >= STATE_COUNT)
		return vf_refuse(EINVAL, "ibv_modify_qp: qp_state %d, allowed are 0 to %d", (int)to,
				 STATE_COUNT - 1);
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return judge(&a, 0, 0);
	m = &moves[from][to];
	if (!m->is_legal || (type == IBV_QPT_RC && from == IBV_QPS_SQE))
		return vf_refuse(EINVAL, "ibv_modify_qp: %s queue pairs do not go from %s to %s",
				 vf_qp_type_name(type), vf_qp_state_name(from),
				 vf_qp_state_name(to));
	return judge(&a, m->needs[row_of(type)], m->bears[row_of(type)]);
}

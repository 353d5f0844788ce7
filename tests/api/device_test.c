/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices and ports: lists, opening and closing, attributes by the caller's size, P_Keys, GIDs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake.h"
#include "verbifrost/verbifrost.h"

static int setup(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

/* ---- lists ---- */

static void no_devices_is_an_empty_list_with_reasons(void **state)
{
	struct ibv_device **list;
	const char *what, *why;
	int n = 9;

	(void)state;
	fake.device_count = 0;
	list = ibv_get_device_list(&n);
	assert_non_null(list);
	assert_int_equal(n, 0);
	assert_null(list[0]);
	ibv_free_device_list(list);
	assert_int_equal(verbifrost_query_skipped(0, &what, &why), 0);
	assert_string_equal(what, "eth9");
	assert_string_equal(why, "no carrier");
	assert_int_equal(verbifrost_query_skipped(1, &what, &why), -1);
}

static void a_device_tells_names_guid_and_index(void **state)
{
	struct ibv_device **list;
	__be64 guid;
	int n;

	(void)state;
	list = ibv_get_device_list(&n);
	assert_int_equal(n, 2);
	assert_string_equal(ibv_get_device_name(list[1]), "vf_fake1");
	guid = ibv_get_device_guid(list[1]);
	assert_memory_equal(&guid, "\x02\0\0\0\0\0\0\x11", 8);
	assert_int_not_equal(ibv_get_device_index(list[0]), ibv_get_device_index(list[1]));
	assert_int_equal(list[0]->node_type, IBV_NODE_CA);
	ibv_free_device_list(list);
	assert_int_equal(fake_live(), 0);
}

static void a_list_freed_twice_or_never_made_is_left_alone(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *none[1] = {NULL};

	(void)state;
	ibv_free_device_list(none);
	ibv_free_device_list(list);
	ibv_free_device_list(list);
	assert_int_equal(fake_live(), 0);
}

/* Some programs do. */
static void a_list_may_be_given_to_free(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		struct ibv_context *ctx = ibv_open_device(list[1]);

		free(list);
		assert_non_null(ctx);
		assert_int_equal(ibv_close_device(ctx), 0);
	}
}

static void a_device_of_a_freed_list_opens_until_the_next_list(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *dev = list[0];
	struct ibv_context *ctx;

	(void)state;
	ibv_free_device_list(list);
	ctx = ibv_open_device(dev);
	assert_non_null(ctx);
	assert_int_equal(ibv_close_device(ctx), 0);
	ibv_free_device_list(ibv_get_device_list(NULL));
	errno = 0;
	assert_null(ibv_open_device(dev));
	assert_int_equal(errno, EINVAL);
}

static void an_open_device_keeps_its_device_after_the_list_is_freed(void **state)
{
	struct ibv_context *ctx = fake_open(), *again;

	(void)state;
	assert_string_equal(ibv_get_device_name(ctx->device), "vf_fake0");
	again = ibv_open_device(ctx->device);
	assert_non_null(again);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_string_equal(ibv_get_device_name(again->device), "vf_fake0");
	assert_int_equal(ibv_close_device(again), 0);
	assert_int_equal(fake_live(), 0);
}

static void *list_and_open(void *arg)
{
	(void)arg;
	for (int i = 0; i < 200; i++) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		struct ibv_context *ctx = list ? ibv_open_device(list[i % 2]) : NULL;

		ibv_free_device_list(list);
		if (!ctx || ibv_close_device(ctx))
			return "failed";
	}
	return NULL;
}

static void several_threads_list_and_open_at_once(void **state)
{
	pthread_t t[4];
	void *said;

	(void)state;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, list_and_open, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &said);
		assert_null(said);
	}
}

/* ---- contexts ---- */

static void a_context_is_what_compiled_programs_expect(void **state)
{
	struct ibv_context *ctx = fake_open();
	struct verbs_context *v = verbs_get_ctx(ctx);

	(void)state;
	assert_ptr_equal(ctx->abi_compat, (void *)UINTPTR_MAX);
	assert_int_equal(v->sz, sizeof(*v));
	assert_ptr_equal(&v->context, ctx);
	assert_true(ctx->num_comp_vectors >= 1);
	assert_true(fcntl(ctx->async_fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(ctx->cmd_fd, F_GETFD) & FD_CLOEXEC);
	for (size_t i = 0; i < sizeof(ctx->ops) / sizeof(void *); i++)
		assert_non_null(((void **)&ctx->ops)[i]);
	ibv_close_device(ctx);
}

static void a_device_that_does_not_open_leaves_nothing(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)state;
	fake.error = EMFILE;
	assert_null(ibv_open_device(list[0]));
	assert_int_equal(errno, EMFILE);
	ibv_free_device_list(list);
	assert_int_equal(fake_live(), 0);
}

static void closing_twice_is_refused(void **state)
{
	struct ibv_context *ctx = fake_open();

	(void)state;
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(ibv_close_device(ctx), EINVAL);
	assert_int_equal(errno, EINVAL);
}

static void a_context_closed_too_early_goes_with_its_last_object(void **state)
{
	struct fake_rig r;

	(void)state;
	fake_rig_make(&r);
	assert_int_equal(ibv_close_device(r.ctx), 0);
	assert_int_equal(ibv_destroy_cq(r.cq), 0);
	assert_true(fake.live > 0);
	assert_int_equal(ibv_dealloc_pd(r.pd), 0);
	assert_int_equal(fake_live(), 0);
}

/* ---- attributes ---- */

static void a_port_query_writes_as_many_bytes_as_the_caller_has(void **state)
{
	static const size_t lens[] = {48, 52, 56, 64};
	struct ibv_context *ctx = fake_open();
	struct ibv_port_attr whole;
	unsigned char b[80];

	(void)state;
	assert_int_equal(ibv_query_port(ctx, 1, &whole), 0);
	assert_int_equal(whole.gid_tbl_len, 4);
	for (size_t i = 0; i < 4; i++) {
		memset(b, 0xee, sizeof(b));
		assert_int_equal(verbs_get_ctx(ctx)->query_port(ctx, 1, (void *)b, lens[i]), 0);
		assert_memory_equal(b, &whole, lens[i] < sizeof(whole) ? lens[i] : sizeof(whole));
		for (size_t at = sizeof(whole); at < lens[i]; at++)
			assert_int_equal(b[at], 0);
		for (size_t at = lens[i]; at < sizeof(b); at++)
			assert_int_equal(b[at], 0xee);
	}
	memset(b, 0xee, sizeof(b));
	assert_int_equal((ibv_query_port)(ctx, 1, (void *)b), 0);
	assert_int_equal(b[47], 0x5a); /* flags, the last of the 48 */
	assert_int_equal(b[48], 0xee);
	ibv_close_device(ctx);
}

static void a_port_that_is_not_there_is_refused(void **state)
{
	struct ibv_context *ctx = fake_open();
	struct ibv_port_attr a;

	(void)state;
	assert_int_equal(ibv_query_port(ctx, 0, &a), EINVAL);
	assert_int_equal(ibv_query_port(ctx, 2, &a), EINVAL);
	assert_string_equal(verbifrost_last_error(),
			    "ibv_query_port: port 2, but vf_fake0 has ports 1 to 1");
	ibv_close_device(ctx);
}

static void device_attributes_come_by_the_callers_size(void **state)
{
	struct ibv_context *ctx = fake_open();
	struct ibv_query_device_ex_input input = {.comp_mask = 1};
	struct ibv_device_attr_ex a;
	struct ibv_device_attr old;
	unsigned char b[sizeof(a) + 32];
	size_t shorter = offsetof(struct ibv_device_attr_ex, tso_caps);

	(void)state;
	assert_int_equal(ibv_query_device(ctx, &old), 0);
	assert_int_equal(ibv_query_device_ex(ctx, NULL, &a), 0);
	assert_memory_equal(&a.orig_attr, &old, sizeof(old));
	assert_int_equal(a.phys_port_cnt_ex, 1);
	memset(b, 0xee, sizeof(b));
	assert_int_equal(verbs_get_ctx(ctx)->query_device_ex(ctx, NULL, (void *)b, shorter), 0);
	assert_memory_equal(b, &a, shorter);
	assert_int_equal(b[shorter], 0xee);
	assert_int_equal(verbs_get_ctx(ctx)->query_device_ex(ctx, NULL, (void *)b, sizeof(b)), 0);
	assert_int_equal(b[sizeof(b) - 1], 0);
	assert_int_equal(verbs_get_ctx(ctx)->query_device_ex(ctx, NULL, (void *)b, 16), EINVAL);
	assert_int_equal(verbs_get_ctx(ctx)->query_device_ex(ctx, &input, &a, sizeof(a)), EINVAL);
	ibv_close_device(ctx);
}

static void a_port_speed_is_lanes_times_speed(void **state)
{
	static const struct {
		uint16_t width, speed;
		uint64_t expected;
	} rows[] = {{2, 32, 1000}, {1, 4, 100},	  {2, 128, 4000},
		    {8, 64, 6000}, {16, 32, 500}, {2, 0, 0}};
	struct ibv_context *ctx = fake_open();
	uint64_t speed;

	(void)state;
	for (size_t i = 0; i < VF_ARRAY_SIZE(rows); i++) {
		fake.active_width = rows[i].width;
		fake.active_speed = rows[i].speed;
		assert_int_equal(ibv_query_port_speed(ctx, 1, &speed), 0);
		assert_int_equal(speed, rows[i].expected);
	}
	assert_int_equal(ibv_query_port_speed(ctx, 257, &speed), EINVAL);
	ibv_close_device(ctx);
}

static void pkeys_are_found_by_index_and_by_value(void **state)
{
	struct ibv_context *ctx = fake_open();
	__be16 pkey = 0;

	(void)state;
	assert_int_equal(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(ibv_query_pkey(ctx, 1, 1, &pkey), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_get_pkey_index(ctx, 1, 0xffff), 0);
	assert_int_equal(ibv_get_pkey_index(ctx, 1, 0x1234), -1);
	ibv_close_device(ctx);
}

/* ---- GIDs ---- */

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       unsigned *type);

static void an_empty_gid_slot_is_zero_or_enodata(void **state)
{
	static const union ibv_gid zero;
	struct ibv_context *ctx = fake_open();
	struct ibv_gid_entry e;
	union ibv_gid gid;
	unsigned type = 9;

	(void)state;
	assert_int_equal(ibv_query_gid(ctx, 1, 1, &gid), 0);
	assert_memory_equal(&gid, &fake.gid[1], sizeof(gid));
	memset(&gid, 0xee, sizeof(gid));
	assert_int_equal(ibv_query_gid(ctx, 1, 2, &gid), 0);
	assert_memory_equal(&gid, &zero, sizeof(gid));
	assert_int_equal(ibv_query_gid(ctx, 1, 4, &gid), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_query_gid(ctx, 1, -1, &gid), -1);

	assert_int_equal(ibv_query_gid_ex(ctx, 1, 1, &e, 0), 0);
	assert_int_equal(e.gid_index, 1);
	assert_int_equal(e.port_num, 1);
	assert_int_equal(e.gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(e.ndev_ifindex, 7);
	assert_int_equal(ibv_query_gid_ex(ctx, 1, 2, &e, 0), ENODATA);
	assert_int_equal(ibv_query_gid_ex(ctx, 1, 4, &e, 0), EINVAL);
	assert_int_equal(ibv_query_gid_ex(ctx, 1, 1, &e, 1), EINVAL);

	assert_int_equal(ibv_query_gid_type(ctx, 1, 1, &type), 0);
	assert_int_equal(type, 1);
	assert_int_equal(ibv_query_gid_type(ctx, 1, 2, &type), 0);
	assert_int_equal(type, 0);
	assert_int_equal(ibv_query_gid_type(ctx, 1, 4, &type), -1);
	ibv_close_device(ctx);
}

static void the_gid_table_has_the_entries_that_are_there(void **state)
{
	struct ibv_context *ctx = fake_open();
	struct ibv_gid_entry e[4];
	unsigned char longer[2][40];

	(void)state;
	fake.gid[3] = fake.gid[0];
	assert_int_equal(ibv_query_gid_table(ctx, e, 4, 0), 3);
	assert_int_equal(e[2].gid_index, 3);
	assert_int_equal(ibv_query_gid_table(ctx, e, 3, 0), 3);
	assert_int_equal(ibv_query_gid_table(ctx, e, 2, 0), -EINVAL);
	assert_int_equal(ibv_query_gid_table(ctx, NULL, 0, 0), -EINVAL);
	assert_int_equal(ibv_query_gid_table(ctx, e, 4, 4), -EINVAL);
	fake.gid[3] = fake.gid[2];
	memset(longer, 0xee, sizeof(longer));
	assert_int_equal(_ibv_query_gid_table(ctx, (void *)longer, 2, 0, 40), 2);
	assert_memory_equal(longer[1], &fake.gid[1], 16);
	assert_int_equal(longer[1][39], 0);
	memset(longer, 0xee, sizeof(longer));
	assert_int_equal(_ibv_query_gid_ex(ctx, 1, 1, (void *)longer, 0, 20), 0);
	assert_int_equal(longer[0][16], 1);
	assert_int_equal(longer[0][20], 0xee);
	ibv_close_device(ctx);
}

static void ethernet_addresses_that_a_gid_determines_are_told(void **state)
{
	static const uint8_t v4_group[6] = {1, 0, 0x5e, 0x01, 2, 3},
			     v6_group[6] = {0x33, 0x33, 0, 0, 0, 9};
	static const uint8_t own[6] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};
	struct ibv_context *ctx = fake_open();
	struct ibv_ah_attr av = {.port_num = 1};
	uint16_t vid = 0;
	uint8_t mac[6];

	(void)state;
	av.grh.dgid = (union ibv_gid){.raw = {[10] = 0xff, 0xff, 224, 0x81, 2, 3}};
	assert_int_equal(ibv_resolve_eth_l2_from_gid(ctx, &av, mac, &vid), 0);
	assert_memory_equal(mac, v4_group, 6);
	assert_int_equal(vid, 0xffff);
	av.grh.dgid = (union ibv_gid){.raw = {0xff, 0x02, [15] = 9}};
	assert_int_equal(ibv_resolve_eth_l2_from_gid(ctx, &av, mac, NULL), 0);
	assert_memory_equal(mac, v6_group, 6);
	av.grh.dgid = (union ibv_gid){
		.raw = {0xfe, 0x80, [8] = 0x00, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55}};
	assert_int_equal(ibv_resolve_eth_l2_from_gid(ctx, &av, mac, NULL), 0);
	assert_memory_equal(mac, own, 6);
	av.grh.dgid = fake.gid[1];
	assert_int_equal(ibv_resolve_eth_l2_from_gid(ctx, &av, mac, NULL), EOPNOTSUPP);
	ibv_close_device(ctx);
}

/* ---- ours ---- */

static void counters_are_counted_and_filled(void **state)
{
	struct ibv_context *ctx = fake_open();
	struct verbifrost_counter c[2] = {{NULL, 0}, {NULL, 0}};

	(void)state;
	assert_int_equal(verbifrost_query_counters(ctx, NULL, 0), 2);
	assert_int_equal(verbifrost_query_counters(ctx, c, 1), 2);
	assert_string_equal(c[0].name, "first");
	assert_null(c[1].name);
	assert_int_equal(verbifrost_query_counters(ctx, c, 2), 2);
	assert_int_equal(c[1].value, 2);
	ibv_close_device(ctx);
}

static char last_line[256];
static int last_level;

static void keep_line(int level, const char *line, void *arg)
{
	last_level = level;
	strcpy(last_line, line);
	*(int *)arg += 1;
}

static void the_programs_own_log_gets_refusals(void **state)
{
	int count = 0;

	(void)state;
	verbifrost_set_log(keep_line, &count);
	verbifrost_set_log_level(2);
	ibv_alloc_pd(NULL);
	verbifrost_set_log_level(0);
	ibv_dereg_mr(NULL);
	verbifrost_set_log(NULL, NULL);
	assert_int_equal(count, 1);
	assert_int_equal(last_level, 2);
	assert_string_equal(last_line, "ibv_alloc_pd: context is NULL");
	assert_string_equal(verbifrost_last_error(), "ibv_dereg_mr: mr is NULL");
}

static void refuse_inside(int level, const char *line, void *arg)
{
	(void)level, (void)line;
	++*(int *)arg;
	ibv_dereg_mr(NULL);
	verbifrost_set_log(NULL, NULL);
}

static void a_log_function_that_refuses_or_ends_itself_hangs_nobody(void **state)
{
	int count = 0;

	(void)state;
	verbifrost_set_log(refuse_inside, &count);
	verbifrost_set_log_level(2);
	ibv_alloc_pd(NULL);
	assert_int_equal(count, 1);
	verbifrost_set_log_level(0);
	assert_string_equal(verbifrost_last_error(), "ibv_dereg_mr: mr is NULL");
}

static atomic_bool is_logging_over;

static void *log_on_and_on(void *arg)
{
	while (!atomic_load(&is_logging_over))
		ibv_dereg_mr(NULL);
	return arg;
}

static void slow_line(int level, const char *line, void *arg)
{
	(void)level, (void)line, (void)arg;
	poll(NULL, 0, 1);
}

static void a_child_logs_though_another_thread_was_logging(void **state)
{
	pthread_t t;

	(void)state;
	verbifrost_set_log(slow_line, NULL);
	verbifrost_set_log_level(2);
	atomic_store(&is_logging_over, false);
	pthread_create(&t, NULL, log_on_and_on, NULL);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();
		int status = -1;

		if (child == 0) {
			alarm(5); /* ends it if it hangs */
			ibv_dereg_mr(NULL);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&is_logging_over, true);
	pthread_join(t, NULL);
	verbifrost_set_log_level(0);
	verbifrost_set_log(NULL, NULL);
}

static void every_setting_has_name_default_value_and_help(void **state)
{
	struct verbifrost_setting s;
	unsigned i = 0;

	(void)state;
	while (verbifrost_query_setting(i, &s) == 0) {
		assert_int_equal(strncmp(s.name, "VERBIFROST_", 11), 0);
		assert_non_null(s.fallback);
		assert_non_null(s.value);
		assert_true(strlen(s.help) > 10);
		i++;
	}
	assert_true(i >= 5);
	assert_string_equal(verbifrost_version(), VERBIFROST_VERSION);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_devices_is_an_empty_list_with_reasons),
		TEST(a_device_tells_names_guid_and_index),
		TEST(a_list_freed_twice_or_never_made_is_left_alone),
		TEST(a_list_may_be_given_to_free),
		TEST(a_device_of_a_freed_list_opens_until_the_next_list),
		TEST(an_open_device_keeps_its_device_after_the_list_is_freed),
		TEST(several_threads_list_and_open_at_once),
		TEST(a_context_is_what_compiled_programs_expect),
		TEST(a_device_that_does_not_open_leaves_nothing),
		TEST(closing_twice_is_refused),
		TEST(a_context_closed_too_early_goes_with_its_last_object),
		TEST(a_port_query_writes_as_many_bytes_as_the_caller_has),
		TEST(a_port_that_is_not_there_is_refused),
		TEST(device_attributes_come_by_the_callers_size),
		TEST(a_port_speed_is_lanes_times_speed),
		TEST(pkeys_are_found_by_index_and_by_value),
		TEST(an_empty_gid_slot_is_zero_or_enodata),
		TEST(the_gid_table_has_the_entries_that_are_there),
		TEST(ethernet_addresses_that_a_gid_determines_are_told),
		TEST(counters_are_counted_and_filled),
		TEST(the_programs_own_log_gets_refusals),
		TEST(a_log_function_that_refuses_or_ends_itself_hangs_nobody),
		TEST(a_child_logs_though_another_thread_was_logging),
		TEST(every_setting_has_name_default_value_and_help),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}

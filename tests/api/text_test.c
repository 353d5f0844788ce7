/* SPDX-License-Identifier: BSD-2-Clause */
/* Names, rates, marshalling, files of the system: what needs no device. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <infiniband/marshall.h>

#include "fake.h"
#include "verbs/kern_abi.h"

int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
const char *ibv_get_sysfs_path(void);

static void every_value_has_a_name_and_so_has_nonsense(void **state)
{
	(void)state;
	for (int i = -3; i < 40; i++) {
		assert_non_null(ibv_node_type_str((enum ibv_node_type)i));
		assert_non_null(ibv_port_state_str((enum ibv_port_state)i));
		assert_non_null(ibv_event_type_str((enum ibv_event_type)i));
		assert_non_null(ibv_wc_status_str((enum ibv_wc_status)i));
		assert_non_null(ibv_wr_opcode_str((enum ibv_wr_opcode)i));
	}
	for (int i = IBV_WC_SUCCESS; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++)
		assert_string_not_equal(ibv_wc_status_str((enum ibv_wc_status)i), "unknown");
	for (int i = IBV_EVENT_CQ_ERR; i <= IBV_EVENT_DEVICE_SPEED_CHANGE; i++)
		assert_string_not_equal(ibv_event_type_str((enum ibv_event_type)i), "unknown");
	assert_string_equal(ibv_port_state_str(IBV_PORT_ACTIVE), "active");
	assert_string_equal(ibv_node_type_str((enum ibv_node_type)77), "unknown");
	assert_string_equal(ibv_wc_status_str(INT32_MAX), "unknown");
}

static void rates_convert_both_ways(void **state)
{
	(void)state;
	for (int r = IBV_RATE_2_5_GBPS; r <= IBV_RATE_1200_GBPS; r++) {
		int mbps = ibv_rate_to_mbps((enum ibv_rate)r);
		int mult = ibv_rate_to_mult((enum ibv_rate)r);

		assert_true(mbps > 0);
		assert_int_equal(mbps_to_ibv_rate(mbps), r);
		if (mult > 0)
			assert_int_equal(mult_to_ibv_rate(mult), r);
	}
	assert_int_equal(ibv_rate_to_mbps(IBV_RATE_100_GBPS), 103125);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_40_GBPS), 16);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_100_GBPS), -1);
	assert_int_equal(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
	assert_int_equal(mbps_to_ibv_rate(12345), IBV_RATE_MAX);
	assert_int_equal(mult_to_ibv_rate(-1), IBV_RATE_MAX);
}

/* Every byte differs, so a field that is swapped or forgotten shows. */
static void fill(void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)p)[i] = (uint8_t)(i * 7 + 3);
}

static void a_path_record_survives_there_and_back(void **state)
{
	struct vf_kern_path_rec kern, back;
	struct ibv_sa_path_rec rec;

	(void)state;
	fill(&kern, sizeof(kern));
	kern.mtu = 4; /* wider there than here */
	memset(&back, 0, sizeof(back));
	ibv_copy_path_rec_from_kern(&rec, (void *)&kern);
	assert_memory_equal(rec.sgid.raw, kern.sgid, 16);
	assert_int_equal(rec.packet_life_time, kern.packet_life_time);
	assert_int_equal(rec.hop_limit, kern.hop_limit);
	ibv_copy_path_rec_to_kern((void *)&back, &rec);
	assert_memory_equal(&back, &kern, sizeof(kern));
}

static void queue_pair_attributes_are_taken_field_by_field(void **state)
{
	struct vf_kern_qp_attr kern;
	struct ibv_qp_attr a;

	(void)state;
	fill(&kern, sizeof(kern));
	memset(&a, 0, sizeof(a));
	ibv_copy_qp_attr_from_kern(&a, (void *)&kern);
	assert_int_equal((uint32_t)a.qp_state, kern.qp_state);
	assert_int_equal((uint32_t)a.cur_qp_state, kern.cur_qp_state);
	assert_int_equal(a.dest_qp_num, kern.dest_qp_num);
	assert_int_equal(a.cap.max_inline_data, kern.max_inline_data);
	assert_int_equal(a.ah_attr.grh.flow_label, kern.ah_attr.flow_label);
	assert_int_equal(a.ah_attr.port_num, kern.ah_attr.port_num);
	assert_memory_equal(a.alt_ah_attr.grh.dgid.raw, kern.alt_ah_attr.dgid, 16);
	assert_int_equal(a.alt_ah_attr.is_global, kern.alt_ah_attr.is_global);
	assert_int_equal(a.pkey_index, kern.pkey_index);
	assert_int_equal(a.rnr_retry, kern.rnr_retry);
	assert_int_equal(a.alt_timeout, kern.alt_timeout);
	assert_int_equal(a.rate_limit, 0); /* not in the kernel's */
}

static void system_files_are_read_or_honestly_missing(void **state)
{
	char dir[] = "/tmp/api_text_XXXXXX", name[64], buf[8];
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/abi", dir);
	f = fopen(name, "w");
	assert_non_null(f);
	fputs("12\n", f);
	fclose(f);
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(ibv_read_sysfs_file(dir, "abi", buf, sizeof(buf)), 2);
	assert_string_equal(buf, "12");
	assert_int_equal(ibv_read_sysfs_file(dir, "abi", buf, 2), 1);
	assert_string_equal(buf, "1");
	assert_int_equal(ibv_read_sysfs_file(dir, "nothing", buf, sizeof(buf)), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(ibv_read_sysfs_file(dir, "abi", buf, 0), -1);
	assert_int_equal(errno, EINVAL);
	unlink(name);
	rmdir(dir);
}

static void the_system_path_loses_its_last_slash(void **state)
{
	(void)state;
	setenv("SYSFS_PATH", "/somewhere/else//", 1);
	assert_string_equal(ibv_get_sysfs_path(), "/somewhere/else");
	setenv("SYSFS_PATH", "/later", 1);
	assert_string_equal(ibv_get_sysfs_path(), "/somewhere/else"); /* read once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_has_a_name_and_so_has_nonsense),
		cmocka_unit_test(rates_convert_both_ways),
		cmocka_unit_test(a_path_record_survives_there_and_back),
		cmocka_unit_test(queue_pair_attributes_are_taken_field_by_field),
		cmocka_unit_test(system_files_are_read_or_honestly_missing),
		cmocka_unit_test(the_system_path_loses_its_last_slash),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}

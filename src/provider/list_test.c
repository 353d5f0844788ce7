/* SPDX-License-Identifier: BSD-2-Clause */
/* The device list and the filling of operations, with two kinds of device that exist only here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "provider.h"

static int freed;
static const char *present[4];
static int list_error;

static void free_device(struct vf_device *dev)
{
	freed++;
	free(dev);
}

static int list_devices(struct vf_device_list *list);
static const struct vf_provider_ops first = {
	.name = "first", .list_devices = list_devices, .free_device = free_device};

static int list_broken(struct vf_device_list *list)
{
	(void)list;
	return -list_error;
}

static const struct vf_provider_ops second = {.name = "second", .list_devices = list_broken};

const struct vf_provider_ops *const vf_providers[] = {&first, &second, NULL};

static int list_devices(struct vf_device_list *list)
{
	for (int i = 0; i < 4 && present[i]; i++) {
		struct vf_device *dev = calloc(1, sizeof(*dev));

		strcpy(dev->ibv.name, present[i]);
		dev->ops = &first;
		dev->refs = 1;
		assert_int_equal(vf_device_list_add(list, dev), 0);
	}
	vf_device_list_skip(list, "eth7", "down");
	return 0;
}

static struct vf_device_list *list_of(const char *a, const char *b)
{
	struct vf_device_list *list = vf_device_list_create();

	present[0] = a;
	present[1] = b;
	assert_int_equal(vf_device_list_collect(list), 0);
	return list;
}

static void an_index_stays_with_its_name(void **state)
{
	struct vf_device_list *ab = list_of("vf_a", "vf_b"), *b = list_of("vf_b", NULL);
	struct vf_device_list *ca = list_of("vf_c", "vf_a");
	struct vf_device *d = vf_device_list_at(b, 0);

	(void)state;
	assert_int_equal(d->index, vf_device_list_at(ab, 1)->index);
	assert_int_equal(vf_device_list_at(ca, 1)->index, vf_device_list_at(ab, 0)->index);
	assert_int_not_equal(vf_device_list_at(ca, 0)->index, d->index);
	assert_string_equal(d->ibv.dev_name, "uverbs1");
	assert_string_equal(d->ibv.dev_path, "/sys/class/infiniband_verbs/uverbs1");
	assert_string_equal(d->ibv.ibdev_path, "/sys/class/infiniband/vf_b");
	assert_int_equal(d->ibv.node_type, IBV_NODE_CA);
	assert_int_equal(d->ibv.transport_type, IBV_TRANSPORT_IB);
	assert_null(vf_device_list_at(b, 1));
	vf_device_list_destroy(ab);
	vf_device_list_destroy(b);
	vf_device_list_destroy(ca);
}

static void a_device_lives_as_long_as_somebody_refers_to_it(void **state)
{
	struct vf_device_list *list = list_of("vf_a", NULL);
	struct vf_device *dev = vf_device_list_at(list, 0);

	(void)state;
	freed = 0;
	vf_device_get(dev);
	vf_device_list_destroy(list);
	assert_int_equal(freed, 0);
	assert_string_equal(dev->ibv.name, "vf_a");
	vf_device_put(dev);
	assert_int_equal(freed, 1);
}

static void what_was_skipped_is_kept_with_its_reason(void **state)
{
	struct vf_device_list *list = list_of(NULL, NULL);
	const char *what, *why;

	(void)state;
	assert_int_equal(vf_device_list_count(list), 0);
	assert_true(vf_device_list_skipped(list, 0, &what, &why));
	assert_string_equal(what, "eth7");
	assert_string_equal(why, "down");
	assert_false(vf_device_list_skipped(list, 1, &what, &why));
	vf_device_list_destroy(list);
}

static void a_provider_that_fails_hides_no_other(void **state)
{
	struct vf_device_list *list;
	const char *what, *why;

	(void)state;
	list_error = EACCES;
	list = list_of("vf_a", NULL);
	list_error = 0;
	assert_int_equal(vf_device_list_count(list), 1);
	assert_true(vf_device_list_skipped(list, 1, &what, &why));
	assert_string_equal(what, "second");
	assert_string_equal(why, strerror(EACCES));
	vf_device_list_destroy(list);
}

static void want_of_memory_is_an_error(void **state)
{
	struct vf_device_list *list = vf_device_list_create();

	(void)state;
	list_error = ENOMEM;
	assert_int_equal(vf_device_list_collect(list), -ENOMEM);
	list_error = 0;
	vf_device_list_destroy(list);
}

static void every_slot_answers_after_filling(void **state)
{
	struct vf_device_list *list = list_of("vf_a", NULL);
	const struct vf_provider_ops *ops = vf_device_list_at(list, 0)->ops;
	struct vf_pd *pd = NULL;
	void *slot[sizeof(*ops) / sizeof(void *)];

	(void)state;
	memcpy(slot, ops, sizeof(slot));
	for (size_t i = 0; i < sizeof(slot) / sizeof(slot[0]); i++)
		assert_non_null(slot[i]);
	assert_int_equal(ops->alloc_pd(NULL, &pd), -EOPNOTSUPP);
	assert_int_equal(ops->destroy_qp(NULL), -EOPNOTSUPP);
	assert_ptr_equal(ops->free_device, free_device);
	assert_non_null(strstr(vf_reason_last(), "destroy_qp"));
	vf_device_list_destroy(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_stays_with_its_name),
		cmocka_unit_test(a_device_lives_as_long_as_somebody_refers_to_it),
		cmocka_unit_test(what_was_skipped_is_kept_with_its_reason),
		cmocka_unit_test(a_provider_that_fails_hides_no_other),
		cmocka_unit_test(want_of_memory_is_an_error),
		cmocka_unit_test(every_slot_answers_after_filling),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}

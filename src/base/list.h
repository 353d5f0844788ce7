/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VF_BASE_LIST_H
#define VF_BASE_LIST_H
/* A doubly linked list whose links live inside the listed objects. A link that is in no list points to itself. */
#include <stdbool.h>

#include "base/bytes.h"

struct vf_list {
	struct vf_list *next, *prev;
};

static inline void vf_list_init(struct vf_list *l) { l->next = l->prev = l; }
static inline bool vf_list_is_empty(const struct vf_list *l) { return l->next == l; }

static inline void vf_list_add_tail(struct vf_list *head, struct vf_list *l)
{
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

/** Takes @l out of whatever list it is in; harmless when it is in none. */
static inline void vf_list_del(struct vf_list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	vf_list_init(l);
}

#define VF_LIST_ENTRY(l, type, member) VF_CONTAINER_OF(l, type, member)
#define VF_LIST_FOR_EACH(it, head) \
	for (struct vf_list *it = (head)->next; it != (head); it = it->next)
/** The body may remove the current entry (not its successor). */
#define VF_LIST_FOR_EACH_SAFE(it, head) \
	for (struct vf_list *it = (head)->next, *it##_next = it->next; it != (head); \
	     it = it##_next, it##_next = it->next)

#endif

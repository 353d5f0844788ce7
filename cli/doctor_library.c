/* SPDX-License-Identifier: BSD-2-Clause */
/* Doctor: which library is loaded, whether the drop-in directory is complete and leads to the same
 * one. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <verbifrost/verbifrost.h>

#include "doctor.h"
#include "dropin.h"
#include "system.h"

/* A function's address as dladdr wants it: the standard has no conversion, every system with dladdr
 * has the representation. */
static void *address_of(void (*f)(void))
{
	void *p;

	memcpy(&p, &f, sizeof(p));
	return p;
}

/* The file that the address lies in, by its real name; @room of at least PATH_MAX. */
static const char *file_of(void *address, char *room)
{
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return "(unknown)";
	return realpath(info.dli_fname, room) ? room : info.dli_fname;
}

void vf_doctor_library(struct vf_report *r)
{
	char a[PATH_MAX], b[PATH_MAX];
	const char *ours = file_of(address_of((void (*)(void))verbifrost_version), a);
	const char *verbs = file_of(address_of((void (*)(void))ibv_get_device_list), b);

	if (strcmp(verbifrost_version(), VERBIFROST_VERSION) != 0) {
		vf_report_add(r, VF_CHECK_FAIL, "library",
			      "this command is version %s and the library %s is version %s",
			      VERBIFROST_VERSION, ours, verbifrost_version());
		vf_report_fix(r, "install both from the same build");
	} else if (strcmp(ours, verbs) != 0) {
		vf_report_add(r, VF_CHECK_FAIL, "library",
			      "the verbs of this process come from %s, not from %s", verbs, ours);
		vf_report_fix(r, "unset LD_PRELOAD LD_LIBRARY_PATH");
	} else {
		vf_report_add(r, VF_CHECK_OK, "library", "%s, version %s", ours,
			      verbifrost_version());
	}
}

/* One file of the directory: there, loads, and (the verbs themselves) is the library that this
 * process has. */
static void check_file(struct vf_report *r, const char *dir, const char *name, unsigned *good)
{
	char path[PATH_MAX], real[PATH_MAX];
	void *handle, *version;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
	    access(path, R_OK) != 0) {
		vf_report_add(r, VF_CHECK_FAIL, "drop-in",
			      "%s is missing in %s: programs linked to it get the system's, or do "
			      "not start",
			      name, dir);
		vf_report_fix(r, "install Verbifrost again (meson install)");
		return;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		vf_report_add(r, VF_CHECK_FAIL, "drop-in", "%s does not load: %s", path, dlerror());
		return;
	}
	version = dlsym(handle, "verbifrost_version");
	if (version && version != address_of((void (*)(void))verbifrost_version))
		vf_report_add(r, VF_CHECK_FAIL, "drop-in",
			      "%s is another copy of the library than %s: two engines would run in "
			      "one process",
			      path, file_of(address_of((void (*)(void))verbifrost_version), real));
	else
		++*good;
	dlclose(handle);
}

void vf_doctor_dropin(struct vf_report *r)
{
	char dir[3 * PATH_MAX];
	unsigned good = 0, n = 0;

	if (!vf_dropin_find(dir, sizeof(dir))) {
		vf_report_add(r, VF_CHECK_FAIL, "drop-in",
			      "the drop-in libraries are not there, so \"verbifrost run\" cannot "
			      "work; looked in %s",
			      dir);
		vf_report_fix(r, "install Verbifrost again (meson install)");
		return;
	}
	for (; vf_system_dropin_files[n]; n++)
		check_file(r, dir, vf_system_dropin_files[n], &good);
	if (good == n)
		vf_report_add(r, VF_CHECK_OK, "drop-in", "%s: %u libraries, each loads", dir, n);
}

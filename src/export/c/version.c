/* The kernel's release against a version, number by number, as far as the version goes: below 0, 0, above 0. */
static int kernel_compare(const char *version) {
  struct utsname name;
  if (uname(&name) != 0) give_up("uname");
  const char *release = name.release;
  for (;;) {
    char *release_end, *version_end;
    long difference = strtol(release, &release_end, 10) - strtol(version, &version_end, 10);
    if (difference != 0 || *version_end != '.') return difference < 0 ? -1 : difference > 0;
    version = version_end + 1;
    release = *release_end == '.' ? release_end + 1 : "0";
  }
}

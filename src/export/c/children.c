static struct child {
  const char *name;
  pid_t process;
  int leave;
} children[64];
static unsigned child_count;
static int ready_end, leave_end; /* of a child that stays */

static int wait_byte(int file) {
  char byte;
  ssize_t got;
  do got = read(file, &byte, 1);
  while (got < 0 && errno == EINTR);
  return got == 1;
}

static void await(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) fail("a child was killed by %s\n", strsignal(WTERMSIG(status)));
  if (shared->ended && getpid() != main_process) _exit(1);
  if (shared->ended) exit(finish());
  settle();
}

/* 1 in the child. A child without a name has ended when this returns; one with a name has done its block. */
static int start_child(const char *name) {
  int ready[2] = {-1, -1}, leave[2] = {-1, -1};
  if (name != NULL && (child_count == 64 || pipe2(ready, O_CLOEXEC) != 0 || pipe2(leave, O_CLOEXEC) != 0)) give_up("children");
  fflush(stdout);
  pid_t process = fork();
  if (process < 0) give_up("fork");
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    child_count = 0;
    close(ready[0]);
    close(leave[1]);
    ready_end = ready[1];
    leave_end = leave[0];
    settle();
    return 1;
  }
  close(ready[1]);
  close(leave[0]);
  if (name == NULL || !wait_byte(ready[0])) {
    await(process);
    close(leave[1]);
  } else {
    children[child_count++] = (struct child){name, process, leave[1]};
    settle();
  }
  close(ready[0]);
  return 0;
}

static void end_child(const char *name) {
  if (name != NULL && write(ready_end, "", 1) == 1) wait_byte(leave_end);
  _exit(0);
}

__attribute__((unused)) static void exit_child(const char *name) {
  for (unsigned i = child_count; i-- > 0;) {
    if (strcmp(children[i].name, name) != 0) continue;
    close(children[i].leave);
    await(children[i].process);
    for (--child_count; i < child_count; ++i) children[i] = children[i + 1];
    return;
  }
  fail("no child %s lives\n", name);
}

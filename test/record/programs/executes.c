// Executes itself, in a child and in its own place, with one argument less each time.
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** arguments) {
  if (count < 2) return 7;
  arguments[count - 1] = 0;
  const pid_t child = vfork();
  if (child == 0) {
    execv("/proc/self/exe", arguments);
    _exit(1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 1;
  execv("/proc/self/exe", arguments);
  return 1;
}

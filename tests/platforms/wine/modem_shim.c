/*
 * Gives PTYs what they lack, for programs under Wine: modem lines, and a memory for data bits, parity and stop bits.
 * Loaded with LD_PRELOAD into Wine's processes. It proves what the driver asks Wine for, not what a chip does.
 *
 * State of a PTY in $FIELDBENCH_SHIM/state.<minor>; its peer is a null-modem cable to itself: CTS follows RTS, DSR and
 * DCD and RI follow DTR. Every change of a line and every break is a line of $FIELDBENCH_SHIM/events:
 *   pts7 DTR=1 RTS=0
 *   pts7 break=1
 *
 *   gcc -shared -fPIC -O1 -Wall -o modem_shim.so modem_shim.c
 */
#define _GNU_SOURCE
#include <asm/termbits.h>
#include <asm/termios.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FRAME_BITS (CSIZE | CSTOPB | PARENB | PARODD | CMSPAR)
#define OUT_LINES (TIOCM_DTR | TIOCM_RTS)

struct state {
  int lines;
  int has_frame;
  unsigned frame;
};

/* Minor number of the PTY behind a descriptor, or -1. */
static int pty_of(int fd) {
  struct stat st;
  if (fstat(fd, &st) || !S_ISCHR(st.st_mode)) return -1;
  return major(st.st_rdev) >= 136 && major(st.st_rdev) <= 143 ? (int)minor(st.st_rdev) : -1;
}

static const char *folder(void) {
  const char *path = getenv("FIELDBENCH_SHIM");
  return path ? path : "/tmp";
}

static int open_state(int pty, struct state *state) {
  char path[512];
  snprintf(path, sizeof path, "%s/state.%d", folder(), pty);
  int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  memset(state, 0, sizeof *state);
  if (fd >= 0 && read(fd, state, sizeof *state) != sizeof *state) memset(state, 0, sizeof *state);
  return fd;
}

static void save(int fd, const struct state *state) {
  if (fd >= 0 && pwrite(fd, state, sizeof *state, 0) < 0) { /* nowhere to say so */ }
}

static void note(const char *format, int pty, int a, int b) {
  char text[160], path[512];
  int length = snprintf(text, sizeof text, format, pty, a, b);
  snprintf(path, sizeof path, "%s/events", folder());
  int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  if (write(fd, text, length) < 0) { /* nowhere to say so */ }
  close(fd);
}

static int modem_request(int pty, unsigned request, void *argument) {
  struct state state;
  int fd = open_state(pty, &state);
  int before = state.lines;
  switch (request) {
  case TIOCMGET:
    *(int *)argument = state.lines | (state.lines & TIOCM_RTS ? TIOCM_CTS : 0) |
                       (state.lines & TIOCM_DTR ? TIOCM_DSR | TIOCM_CD | TIOCM_RI : 0);
    break;
  case TIOCMSET: state.lines = *(int *)argument & OUT_LINES; break;
  case TIOCMBIS: state.lines |= *(int *)argument & OUT_LINES; break;
  case TIOCMBIC: state.lines &= ~*(int *)argument; break;
  case TIOCSBRK: note("pts%d break=%d\n", pty, 1, 0); break;
  case TIOCCBRK: note("pts%d break=%d\n", pty, 0, 0); break;
  case TIOCGICOUNT: memset(argument, 0, sizeof(struct serial_icounter_struct)); break;
  }
  if (state.lines != before) {
    save(fd, &state);
    note("pts%d DTR=%d RTS=%d\n", pty, !!(state.lines & TIOCM_DTR), !!(state.lines & TIOCM_RTS));
  }
  if (fd >= 0) close(fd);
  return 0;
}

/* Wine 10 knows termios2 only. A PTY takes any frame and keeps 8N: remember what was set, and say it when asked. */
static void frame_request(int fd, unsigned request, void *argument) {
  int set = request == TCSETS2 || request == TCSETSW2 || request == TCSETSF2;
  int pty = set || request == TCGETS2 ? pty_of(fd) : -1;
  if (pty < 0) return;
  struct termios2 *termios = argument;
  struct state state;
  int file = open_state(pty, &state);
  if (set) {
    state.has_frame = 1;
    state.frame = termios->c_cflag & FRAME_BITS;
    save(file, &state);
  } else if (state.has_frame) {
    termios->c_cflag = (termios->c_cflag & ~FRAME_BITS) | state.frame;
  }
  if (file >= 0) close(file);
}

int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  switch ((unsigned)request) {
  case TIOCMGET: case TIOCMSET: case TIOCMBIS: case TIOCMBIC: case TIOCSBRK: case TIOCCBRK: case TIOCGICOUNT: {
    int pty = pty_of(fd);
    if (pty >= 0) return modem_request(pty, request, argument);
  }
  }
  int result = syscall(SYS_ioctl, fd, request, argument);
  if (result == 0) frame_request(fd, request, argument);
  return result;
}

/* The vector table of a Cortex-M: stack and entry. newlib's start-up code with semihosting (rdimon) does the rest. */
extern char stack_top[];
extern void _start(void);

__attribute__((section(".vectors"), used)) static const void *const vectors[2] = {stack_top, (const void *)_start};

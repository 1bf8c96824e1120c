/**
 * Reports the state of a server to systemd, or another service manager that speaks its protocol:
 * {@link ServiceNotifier}.
 */
@NullMarked
package lunar.cli.systemd;

import org.jspecify.annotations.NullMarked;

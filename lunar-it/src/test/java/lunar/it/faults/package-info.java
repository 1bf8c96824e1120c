/**
 * The fault lab: scenarios in which networks freeze, processes die, caches vanish and disks fill, played with real
 * {@code lunar} processes on the loopback interface under verified load. {@link lunar.it.faults.Faults} runs them;
 * {@link lunar.it.faults.BlockHistory} decides whether an acknowledged write was lost.
 */
package lunar.it.faults;

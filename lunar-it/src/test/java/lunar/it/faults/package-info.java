/**
 * Fault lab: scenarios in which networks freeze, processes die, caches vanish and disks fill, run with real {@code
 * lunar} processes on the loopback interface under verified load. {@link lunar.it.faults.Faults} runs them; {@link
 * lunar.it.faults.BlockHistory} detects lost acknowledged writes.
 */
package lunar.it.faults;

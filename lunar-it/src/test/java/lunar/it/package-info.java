/**
 * Tests of Lunar with real peers, and of rules that apply to all modules. Classes named {@code *IT} start foreign
 * programs and run with {@code -Pit} only; where a program is missing they are skipped, with the reason.
 */
@NullMarked
package lunar.it;

import org.jspecify.annotations.NullMarked;

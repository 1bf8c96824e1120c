/**
 * Interpretation of a target's responses and retries: one mapping of status and sense data
 * ({@link lunar.initiator.internal.retry.SenseMapping}), one policy for commands
 * ({@link lunar.initiator.internal.retry.RetryPolicy}).
 *
 * <p>Threading: values and objects of one owner; nothing here is shared between threads.
 */
@NullMarked
package lunar.initiator.internal.retry;

import org.jspecify.annotations.NullMarked;

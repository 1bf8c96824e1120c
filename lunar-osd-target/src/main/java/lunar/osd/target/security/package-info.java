/**
 * Security of the device: which commands are admitted. {@link lunar.osd.target.security.DeviceSecurity} is what the
 * commands know of it; without security it admits everything and looks at nothing.
 *
 * <p>A command is admitted in this order: its credential is computed anew from the capability and the secret key that
 * it names, and the request integrity check value is compared; then the nonce; then the integrity of data-out; then
 * what the capability allows. What is refused has had no effect.
 *
 * <p>Threading: commands are admitted on their own threads, several at a time.
 */
@NullMarked
package lunar.osd.target.security;

import org.jspecify.annotations.NullMarked;

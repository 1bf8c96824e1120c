/**
 * Capabilities and security parameters of a CDB. They are carried, not checked: a target without security ignores
 * them, and decoding them never fails. Text forms leave out integrity check values and nonces.
 */
@NullMarked
package lunar.osd.wire.security;

import org.jspecify.annotations.NullMarked;

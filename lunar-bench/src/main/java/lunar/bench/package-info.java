/** End-to-end comparison with other targets and initiators, and micro benches of the codecs. */
@NullMarked
package lunar.bench;

import org.jspecify.annotations.NullMarked;

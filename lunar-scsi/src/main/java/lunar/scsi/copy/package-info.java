/**
 * Third-party copy: EXTENDED COPY with its descriptors and results (SPC-5, SPC-4), and ROD tokens, known as offloaded
 * data transfer (SBC-4).
 */
@NullMarked
package lunar.scsi.copy;

import org.jspecify.annotations.NullMarked;

package lunar.scsi.target;

import lunar.scsi.AdditionalSense;

/**
 * Oldest pending unit attention condition (SAM-5 section 5.14).
 *
 * @param oldest condition that the next command would report
 * @param more whether more conditions are pending
 */
public record PendingAttention(AdditionalSense oldest, boolean more) {}

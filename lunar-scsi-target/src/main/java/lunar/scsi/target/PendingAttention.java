package lunar.scsi.target;

import lunar.scsi.AdditionalSense;

/**
 * A unit attention condition that pends (SAM-5 section 5.14).
 *
 * @param oldest the condition that a command would report next
 * @param more whether there are others
 */
public record PendingAttention(AdditionalSense oldest, boolean more) {}

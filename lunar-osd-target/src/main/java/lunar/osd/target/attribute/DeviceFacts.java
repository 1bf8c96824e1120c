package lunar.osd.target.attribute;

import lunar.block.Identity;
import lunar.block.Usage;

/**
 * State of the device for attributes of the root object.
 *
 * @param identity identity of the device
 * @param usage space of the medium
 * @param maxContinuationLength longest CDB continuation segment, in bytes
 * @param nowMs the device's clock, in milliseconds since 1970 UTC
 * @param security state of its security
 */
public record DeviceFacts(Identity identity, Usage usage, int maxContinuationLength, long nowMs,
        SecurityFacts security) {}

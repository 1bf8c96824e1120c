package lunar.scsi;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Sense data of a CHECK CONDITION (SPC-5 section 4.5), independent of its format.
 *
 * @param key the sense key
 * @param additional the additional sense code
 * @param deferred whether it concerns an earlier command that ended with GOOD
 * @param information INFORMATION, usually the first LBA in error; for a miscompare the offset of the first byte
 * @param commandSpecific COMMAND-SPECIFIC INFORMATION
 * @param specific the sense-key-specific bytes
 * @param descriptors further descriptors in their order; the fixed format has only a place for the code of a
 *        field replaceable unit
 */
public record Sense(SenseKey key, AdditionalSense additional, boolean deferred,
        OptionalLong information, OptionalLong commandSpecific, Optional<SenseSpecific> specific,
        List<SenseDescriptor> descriptors) {
    /** FIELD REPLACEABLE UNIT CODE (vendor specific, SPC-5 section 4.5.2.5) of a Lunar target: the write cache. */
    private static final int WRITE_CACHE = 0xc0;

    /** Sense data of a target that has nothing to report. */
    public static final Sense NONE = of(SenseKey.NO_SENSE, AdditionalSense.NONE);

    public Sense {
        descriptors = List.copyOf(descriptors);
    }

    /** Returns sense data with a key and an additional sense alone. */
    public static Sense of(SenseKey key, AdditionalSense additional) {
        return new Sense(key, additional, false, OptionalLong.empty(), OptionalLong.empty(),
                Optional.empty(), List.of());
    }

    /**
     * Returns MEDIUM ERROR, WRITE ERROR for writes that were acknowledged earlier and may be lost. Names the write
     * cache as the field replaceable unit, so that an initiator of Lunar can tell it from an error of the command's
     * own blocks.
     */
    public static Sense lostWrites() {
        return of(SenseKey.MEDIUM_ERROR, AdditionalSense.WRITE_ERROR)
                .withDescriptor(SenseFormat.replaceableUnit(WRITE_CACHE));
    }

    /**
     * Whether these are {@link #lostWrites}, if a Lunar target has sent them; other targets may use the code for
     * another part.
     */
    public boolean isLostWrites() {
        return key == SenseKey.MEDIUM_ERROR && additional.equals(AdditionalSense.WRITE_ERROR)
                && SenseFormat.replaceableUnit(this) == WRITE_CACHE;
    }

    /** Returns ILLEGAL REQUEST with INVALID FIELD IN CDB and the byte in error. */
    public static Sense invalidFieldInCdb(int byteAt) {
        return invalidField(true, byteAt, OptionalInt.empty());
    }

    /** Returns ILLEGAL REQUEST with INVALID FIELD IN CDB, and the byte and the most significant bit in error. */
    public static Sense invalidFieldInCdb(int byteAt, int bit) {
        return invalidField(true, byteAt, OptionalInt.of(bit));
    }

    /** Returns ILLEGAL REQUEST with INVALID FIELD IN PARAMETER LIST and the byte in error. */
    public static Sense invalidFieldInParameterList(int byteAt) {
        return invalidField(false, byteAt, OptionalInt.empty());
    }

    /** Returns ILLEGAL REQUEST with INVALID FIELD IN PARAMETER LIST, and the byte and most significant bit in error. */
    public static Sense invalidFieldInParameterList(int byteAt, int bit) {
        return invalidField(false, byteAt, OptionalInt.of(bit));
    }

    private static Sense invalidField(boolean inCdb, int byteAt, OptionalInt bit) {
        return of(SenseKey.ILLEGAL_REQUEST, inCdb
                ? AdditionalSense.INVALID_FIELD_IN_CDB
                : AdditionalSense.INVALID_FIELD_IN_PARAMETER_LIST)
                .withSpecific(new SenseSpecific.FieldPointer(inCdb, Math.min(byteAt, 0xffff), bit));
    }

    /** Returns these sense data with INFORMATION. */
    public Sense withInformation(long value) {
        return new Sense(key, additional, deferred, OptionalLong.of(value), commandSpecific,
                specific, descriptors);
    }

    /** Returns these sense data with COMMAND-SPECIFIC INFORMATION. */
    public Sense withCommandSpecific(long value) {
        return new Sense(key, additional, deferred, information, OptionalLong.of(value), specific,
                descriptors);
    }

    /** Returns these sense data with sense-key-specific bytes. */
    public Sense withSpecific(SenseSpecific value) {
        return new Sense(key, additional, deferred, information, commandSpecific,
                Optional.of(value), descriptors);
    }

    /** Returns these sense data with a further descriptor at the end. */
    public Sense withDescriptor(SenseDescriptor descriptor) {
        var all = new ArrayList<>(descriptors);
        all.add(descriptor);
        return new Sense(key, additional, deferred, information, commandSpecific, specific, all);
    }

    /** Returns these sense data as a deferred error (SPC-5). */
    public Sense asDeferred() {
        return new Sense(key, additional, true, information, commandSpecific, specific,
                descriptors);
    }

    /** Returns the location of the field in error, if reported. */
    public Optional<SenseSpecific.FieldPointer> fieldPointer() {
        return specific.filter(SenseSpecific.FieldPointer.class::isInstance)
                .map(SenseSpecific.FieldPointer.class::cast);
    }

    /** Returns the first descriptor of a type, if there is one. */
    public Optional<SenseDescriptor> descriptor(int type) {
        return descriptors.stream().filter(each -> each.type() == type).findFirst();
    }

    /** In the format that D_SENSE of the Control mode page asks for. */
    public byte[] encode(boolean descriptorFormat) {
        return descriptorFormat ? encodeDescriptor() : encodeFixed();
    }

    /** 18 bytes in fixed format (SPC-5 section 4.5.3). Values over 32 bits have no place there and are left out. */
    public byte[] encodeFixed() {
        return SenseFormat.encodeFixed(this);
    }

    /**
     * Descriptor format (SPC-5 section 4.5.2). Descriptors that do not fit into the 244 bytes behind the header are
     * left out.
     */
    public byte[] encodeDescriptor() { return SenseFormat.encodeDescriptor(this); }

    /**
     * Reads either format. Never fails: what is cut off or has an unknown format is absent, down to
     * {@link #NONE} for no bytes at all.
     */
    public static Sense decode(MemorySegment bytes) { return SenseFormat.decode(bytes); }

    /** Whether sense data have a format that {@link #decode} knows, so that {@link #NONE} is what they say. */
    public static boolean isKnownFormat(MemorySegment bytes) {
        return SenseFormat.isKnown(bytes);
    }

    @Override
    public String toString() {
        var text = new StringBuilder().append(key).append(' ').append(additional);
        information.ifPresent(value -> text.append(", information ").append(value));
        commandSpecific.ifPresent(value -> text.append(", command specific ").append(value));
        specific.ifPresent(value -> text.append(", ").append(value));
        descriptors.forEach(each -> text.append(", ").append(each));
        return text.append(deferred ? ", deferred" : "").toString();
    }
}

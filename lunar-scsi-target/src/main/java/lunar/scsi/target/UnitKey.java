package lunar.scsi.target;

/**
 * Identity of a logical unit: its device type, and the object that it serves, compared by reference.
 *
 * @param type the class of the {@link UnitSpec}
 * @param served {@link UnitSpec#key}
 */
public record UnitKey(Class<?> type, Object served) {
    @Override
    @SuppressWarnings("ReferenceEquality")
    public boolean equals(Object other) {
        return other instanceof UnitKey key && type.equals(key.type) && served == key.served;
    }

    @Override
    public int hashCode() { return 31 * type.hashCode() + System.identityHashCode(served); }
}

package lunar.osd.wire.attribute;

/** Offsets of the get and set attributes parameters in a CDB. */
final class ParameterLayout {
    static final int FORMAT_AT = 11;
    static final int FORMAT_SHIFT = 4;
    static final int FORMAT_MASK = 3;

    private ParameterLayout() {}
}

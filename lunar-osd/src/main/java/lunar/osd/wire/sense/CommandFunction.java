package lunar.osd.wire.sense;

import java.util.EnumSet;
import java.util.Set;

/** Functions of a command, as bits of the error identification descriptor. */
public enum CommandFunction {
    /** Validation of the CDB. */
    VALIDATION(0x8000_0000),
    /** Validation of the capability. */
    COMMAND_CAPABILITY(0x2000_0000),
    /** The command itself. */
    COMMAND(0x1000_0000),
    /** Setting of attributes that the command implies. */
    IMPLICIT_SET_ATTRIBUTES(0x0010_0000),
    /** Validation of the capability for setting attributes. */
    SET_ATTRIBUTES_CAPABILITY(0x0000_2000),
    SET_ATTRIBUTES(0x0000_1000),
    /** Validation of the capability for getting attributes. */
    GET_ATTRIBUTES_CAPABILITY(0x0000_0020),
    GET_ATTRIBUTES(0x0000_0010);

    private final int mask;

    CommandFunction(int mask) { this.mask = mask; }

    /** The functions of a mask; reserved bits are ignored. */
    static Set<CommandFunction> ofMask(int bits) {
        var functions = EnumSet.noneOf(CommandFunction.class);
        for (CommandFunction function : values()) {
            if ((bits & function.mask) != 0) {
                functions.add(function);
            }
        }
        return functions;
    }

    static int mask(Set<CommandFunction> functions) {
        int bits = 0;
        for (CommandFunction function : functions) {
            bits |= function.mask;
        }
        return bits;
    }
}

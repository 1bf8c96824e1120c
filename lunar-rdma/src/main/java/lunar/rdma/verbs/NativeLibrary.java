package lunar.rdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/** A shared library whose functions are found by name. Loaded once, never unloaded. */
final class NativeLibrary {
    private final String name;
    private final SymbolLookup symbols;

    private NativeLibrary(String name, SymbolLookup symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    /**
     * Loads a library by its name for the dynamic linker.
     *
     * @throws UnsatisfiedLinkError if it is not installed
     */
    @SuppressWarnings("restricted")
    static NativeLibrary load(String name) {
        try {
            return new NativeLibrary(name, SymbolLookup.libraryLookup(name, Arena.global()));
        } catch (IllegalArgumentException _) {
            throw new UnsatisfiedLinkError(name + " is not installed");
        }
    }

    /** Returns libc. */
    static NativeLibrary libc() {
        return new NativeLibrary("libc", Linker.nativeLinker().defaultLookup());
    }

    /**
     * Finds a function of integers and addresses.
     *
     * @throws UnsatisfiedLinkError if the library lacks it
     */
    NativeFunction function(String function) {
        return new NativeFunction(function, symbols.find(function).orElseThrow(
                () -> new UnsatisfiedLinkError(name + " has no function " + function)));
    }

    /** Returns memory of a library as a segment, which has no lifetime of its own. */
    @SuppressWarnings("restricted")
    static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}

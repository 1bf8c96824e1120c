/**
 * Fuzzer: mutated PDU streams against a running target over TCP. {@link lunar.it.fuzz.Fuzzer} runs it, alone ({@code
 * make fuzz}) or as a test; a seed determines everything that is sent. The unit of work is a {@link
 * lunar.it.fuzz.Plan}, the bytes of one connection, which depends on the seed and its number only.
 *
 * <p>Threading: one thread sends and checks responses, one does I/O that must not be affected; the target has its own.
 */
package lunar.it.fuzz;

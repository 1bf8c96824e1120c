/**
 * The fuzzer: mutated PDU streams against a running target over TCP. {@link lunar.it.fuzz.Fuzzer} runs it, alone
 * ({@code make fuzz}) or as a test; a seed decides everything that is sent. The unit of work is a
 * {@link lunar.it.fuzz.Plan}, one connection's worth of bytes, which depends on the seed and its number only.
 *
 * <p>Threading: one thread sends and checks answers, one does I/O that must not suffer; the target has its own.
 */
package lunar.it.fuzz;

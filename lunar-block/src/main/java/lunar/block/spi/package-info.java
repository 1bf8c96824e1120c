/**
 * For implementations of {@link lunar.block.BlockDevice}; code that only uses devices needs nothing of it.
 *
 * <p>{@link lunar.block.spi.RequestValidation} checks a request before it is executed, and
 * {@link lunar.block.spi.RequestCompletion} completes a submitted one, exactly once. A module that implements
 * {@link lunar.block.spi.DeviceProvider} or {@link lunar.block.spi.FilterProvider} adds devices or filters to device
 * URIs.
 *
 * <p>Threading: devices and providers are called by any thread at any time.
 *
 * {@snippet :
 * public void submit(BlockRequest request) {
 *     workers.execute(() -> RequestCompletion.executeAndComplete(request, this));
 * }
 *
 * public void execute(BlockRequest request) throws StorageException {
 *     RequestValidation.check(request, this);
 *     switch (request.operation()) { ... }
 * }
 * }
 */
@NullMarked
package lunar.block.spi;

import org.jspecify.annotations.NullMarked;

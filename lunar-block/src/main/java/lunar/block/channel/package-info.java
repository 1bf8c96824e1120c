/**
 * NIO channels over block devices, for code that expects files: {@link lunar.block.channel.BlockChannel} is a
 * {@code SeekableByteChannel}, {@link lunar.block.channel.AsynchronousBlockChannel} an {@code AsynchronousFileChannel}.
 * Both read and write at any byte of any device. A write of a part of a block reads the block first; such writes to the
 * same block are performed one after the other.
 *
 * <p>Threading: both channels are thread-safe, as the JDK's interfaces demand.
 */
@NullMarked
package lunar.block.channel;

import org.jspecify.annotations.NullMarked;

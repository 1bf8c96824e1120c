/**
 * Views of a block device for code that expects files: {@link lunar.block.channel.BlockChannel} is a
 * {@code SeekableByteChannel}, {@link lunar.block.channel.AsynchronousBlockChannel} an {@code AsynchronousFileChannel},
 * over any device, at any byte. A write of part of a block reads the block first; such writes to the same blocks
 * wait for each other.
 *
 * <p>Threading: as the JDK's interfaces say.
 */
@NullMarked
package lunar.block.channel;

import org.jspecify.annotations.NullMarked;

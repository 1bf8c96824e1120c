/** Manual pages of all commands, made from what {@code --help} prints. */
@NullMarked
package lunar.cli.manual;

import org.jspecify.annotations.NullMarked;

/** The configuration file and what it names: targets, portals, volumes, devices. */
@NullMarked
package lunar.cli.config;

import org.jspecify.annotations.NullMarked;

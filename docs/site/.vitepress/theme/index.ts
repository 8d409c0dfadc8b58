// The default theme without its font files: the site asks nothing of anybody, and reads in the fonts of the machine.
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;

import DefaultTheme from 'vitepress/theme';
import './wrap.css';

export default DefaultTheme;
